/** What a token can be allowed, as the service has it, in words. */
import type { TokenBody } from "../../api/types.ts";

type ScopeId = TokenBody["scopes"][number];

export interface Scope {
  id: ScopeId;
  label: string;
  hint: string;
  /** Makes sense for a token that is bound to sessions. */
  bound: boolean;
}

const scope = (id: ScopeId, label: string, hint: string, bound = true): Scope => ({ id, label, hint, bound });

export const SCOPES: readonly Scope[] = [
  scope("sessions:read", "See sessions", "the list, details and screens"),
  scope("sessions:input", "Type", "text, keys and terminal size; also needs “See sessions”"),
  scope("sessions:manage", "Manage sessions", "create, start, rename, close"),
  scope("waits", "Wait", "until an agent is done, asks or exits"),
  scope("events", "Events", "the live event stream"),
  scope("approvals", "Approvals", "see and answer agents' questions"),
  scope("git", "Git", "status and diffs of workspaces"),
  scope("cron", "Cron", "scheduled jobs", false),
  scope("settings", "Settings", "read and change server settings", false),
  scope("admin", "Admin", "tunnel, agents, webhook, audit log; users read-only", false),
];

export const labelOf = (id: string): string => SCOPES.find((each) => each.id === id)?.label ?? id;

/** @param limited the token shall reach chosen sessions only. */
export function offered(admin: boolean, limited: boolean): Scope[] {
  return SCOPES.filter((each) => (admin || each.id !== "admin") && (!limited || each.bound));
}
