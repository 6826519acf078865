/** What can be asked of the log. */

export interface Filter {
  kind: string;
  actor: string;
}

export const NO_FILTER: Filter = { kind: "", actor: "" };
export const PAGE = 50;

interface Kind {
  id: string;
  label: string;
  /** How the action begins, or the path of an operation. */
  by: "action" | "path";
  value: string;
}

const kind = (id: string, label: string, by: "action" | "path", value: string): Kind => ({
  id,
  label,
  by,
  value,
});

export const KINDS: readonly Kind[] = [
  kind("logins", "Sign-ins and failures", "action", "login"),
  kind("failures", "Failed sign-ins", "action", "login.failed"),
  kind("users", "Users", "path", "/api/admin/users"),
  kind("tokens", "Tokens", "path", "/api/tokens"),
  kind("devices", "Devices signed out", "path", "/api/auth/revoke"),
  kind("tunnel", "Tunnel and QR codes", "path", "/api/tunnel"),
  kind("sessions", "Sessions", "path", "/api/sessions"),
  kind("typing", "Typing in terminals", "action", "input"),
  kind("approvals", "Approvals", "path", "/api/approvals"),
  kind("settings", "Settings", "path", "/api/settings"),
];

/** @param before the number that the page ends below. */
export function queryOf(filter: Filter, before?: number) {
  const wanted = KINDS.find((each) => each.id === filter.kind);
  return {
    limit: PAGE,
    ...(wanted && { [wanted.by]: wanted.value }),
    actor: filter.actor.trim() || undefined,
    before,
  };
}
