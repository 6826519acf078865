/** Entries of the log in words; what has none is shown as it stands. */
import type { AuditEntryResponse } from "../../api/types.ts";
import { table } from "../../lib/table.ts";

const WORDS: Record<string, string> = table({
  login: "signed in",
  "login.failed": "failed to sign in",
  "login.locked": "reached the limit of failed sign-ins",
  input: "typed",
  "audit.broken": "the log was changed from outside",
  "POST /api/logout": "signed out",
  "POST /api/auth/revoke": "signed out devices",
  "PUT /api/me/password": "changed their password",
  "POST /api/admin/users": "created a user",
  "PATCH /api/admin/users/{name}": "changed a user",
  "DELETE /api/admin/users/{name}": "deleted a user",
  "POST /api/admin/users/{name}/reset-password": "reset a password",
  "POST /api/admin/users/{name}/logout": "signed out a user",
  "POST /api/tokens": "created a token",
  "DELETE /api/tokens/{id}": "revoked a token",
  "POST /api/tunnel/start": "started the tunnel",
  "POST /api/tunnel/stop": "stopped the tunnel",
  "POST /api/tunnel/qr/regenerate": "created a new QR code",
  "POST /api/sessions": "created a session",
  "POST /api/quick-start": "created a session",
  "DELETE /api/sessions/{id}": "closed a session",
  "POST /api/sessions/{id}/start": "started a session",
  "POST /api/sessions/{id}/input": "typed",
  "PUT /api/sessions/{id}/name": "renamed a session",
  "POST /api/approvals/{item}/answer": "answered an approval",
  "POST /api/approvals/{item}/dismiss": "dismissed an approval",
  "PUT /api/settings": "changed settings",
  "POST /api/mcp-sync": "synced MCP servers",
});

export const describeAction = (action: string): string => WORDS[action] ?? action;

export const isWorded = (action: string): boolean => action in WORDS;

export function describeActor(entry: AuditEntryResponse): string {
  if (entry.actor !== "") return entry.actor;
  return entry.action.startsWith("audit.") ? "the server" : "somebody";
}

export type Mark = "bad" | "warn" | "plain";

export function markOf(entry: AuditEntryResponse): Mark {
  if (entry.action === "audit.broken") return "bad";
  return entry.action.startsWith("login.") || "error" in entry.detail ? "warn" : "plain";
}

const show = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
};

const METHODS: Record<string, string> = table({
  cookie: "browser",
  login: "with a password",
  basic: "with a password, from a script",
  qr: "with a QR code",
  token: "token",
});

/** How the actor was known; empty where nobody was. */
export const describeMethod = (method: string): string =>
  method === "none" ? "" : (METHODS[method] ?? method);

const ID = /^[0-9a-f-]{16,}$/;
const SHORT = 8;

/**
 * What it was done to, as people know it.
 * @param nameOf a session's name; undefined for what is no session, or is gone.
 */
export function describeTarget(
  entry: AuditEntryResponse,
  nameOf: (id: string) => string | undefined,
): string {
  // The session that a sign-in opened has no name to anybody.
  if (entry.action === "login") return "";
  const { target } = entry;
  return nameOf(target) ?? (ID.test(target) ? `${target.slice(0, SHORT)}…` : target);
}

const FIELDS: Record<string, string> = table({
  can_bypass_permissions: "can run anything",
  os_user: "OS user",
  working_dir: "folder",
});

const TRIED: Record<string, string> = table({ basic: "password", hook: "hook secret", qr: "code" });

const fieldText = (name: string): string => FIELDS[name] ?? name.replaceAll("_", " ");

/** One entry has whether it was over the limit, a sum of them how many were. */
function lockedText(value: unknown): string {
  if (value === true) return "locked out after too many attempts";
  return typeof value === "number" && value > 0 ? `${value} while locked out` : "";
}

/** Details that read better without their names; empty: nothing worth a word. */
const DETAILS: Record<string, (value: unknown) => string> = table({
  fields: (value) => `set: ${[value].flat().map(String).map(fieldText).join(", ")}`,
  bucket: (value) => `wrong ${TRIED[String(value)] ?? show(value)}`,
  locked: lockedText,
  times: (value) => (Number(value) === 1 ? "once" : `${show(value)} times`),
  username: (value) => `as ${show(value)}`,
});

/** What else the entry says: `error: LAST_ADMIN`, `set: role`. */
export function describeDetails(entry: AuditEntryResponse): string[] {
  return Object.entries(entry.detail)
    .filter(([, value]) => value !== null && show(value) !== "")
    .map(([name, value]) => DETAILS[name]?.(value) ?? `${name}: ${show(value)}`)
    .filter((text) => text !== "");
}
