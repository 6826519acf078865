/** What a token can be allowed, as the service has it, in words. */
import type { TokenBody } from "../api/types.ts";

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
  scope("sessions:read", "See sessions", "lists, records and what is on the screen"),
  scope("sessions:input", "Type", "text, keys and sizes; a terminal needs “see” too"),
  scope("sessions:manage", "Manage sessions", "make, start, rename, end"),
  scope("waits", "Wait", "until an agent stops, asks or is idle"),
  scope("events", "Events", "the stream of everything that happens"),
  scope("approvals", "Approvals", "see and answer what agents ask"),
  scope("git", "Git", "status and diffs of workspaces"),
  scope("cron", "Cron", "jobs that run by the clock", false),
  scope("settings", "Settings", "read and change the service's settings", false),
  scope("admin", "Admin", "tunnel, CLIs, webhook, audit log; accounts only to read", false),
];

export const labelOf = (id: string): string => SCOPES.find((each) => each.id === id)?.label ?? id;

/** @param limited the token shall reach chosen sessions only. */
export function offered(admin: boolean, limited: boolean): Scope[] {
  return SCOPES.filter((each) => (admin || each.id !== "admin") && (!limited || each.bound));
}
