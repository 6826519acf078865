/** What the page says of a token. */
import type { TokenBody, TokenResponse } from "../../api/types.ts";
import { formatAgo, formatAhead } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";

type ScopeId = TokenBody["scopes"][number];

interface Scope {
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

const SOON_MS = 3 * 24 * 60 * 60 * 1000;

export function describeLastUse(token: TokenResponse, now: number): string {
  return token.lastUsedAt === null ? "never used" : `last used ${formatAgo(token.lastUsedAt, now)}`;
}

export function describeExpiry(token: TokenResponse, now: number): string {
  if (token.expiresAt === null) return "never expires";
  return token.expiresAt <= now ? "expired" : `expires ${formatAhead(token.expiresAt, now)}`;
}

export const endsSoon = (token: TokenResponse, now: number): boolean =>
  token.expiresAt !== null && token.expiresAt - now < SOON_MS;

/** @param nameOf a session's name; undefined for one that is gone. */
export function describeSessions(token: TokenResponse, nameOf: (id: string) => string | undefined): string {
  if (token.sessions === null) return "all your sessions";
  const names = token.sessions.map(nameOf).filter((name) => name !== undefined);
  const gone = token.sessions.length - names.length;
  if (gone > 0) names.push(plural(gone, "closed session"));
  return `only ${names.join(", ")}`;
}

/** A first request to try the token with. */
export const buildExample = (base: string): string =>
  `curl -H "Authorization: Bearer $TOKEN" ${new URL("api/sessions", base).href}`;
