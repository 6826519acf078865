/** What the page says of a token. */
import { formatAgo, formatAhead } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import type { TokenResponse } from "../../api/types.ts";

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
