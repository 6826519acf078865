/** A token before it is made. */
import type { TokenBody } from "../../api/types.ts";
import { offered } from "./texts.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export type Lifetime = "1" | "7" | "30" | "90" | "365" | "date" | "never";

export const LIFETIMES: [Lifetime, string][] = [
  ["1", "in 1 day"],
  ["7", "in 7 days"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in 1 year"],
  ["date", "on a date"],
  ["never", "never expires"],
];

export interface Draft {
  name: string;
  scopes: readonly string[];
  limited: boolean;
  sessions: readonly string[];
  lifetime: Lifetime;
  /** The last day, as a date field gives it: `2027-03-31`. */
  date: string;
}

export const EMPTY: Draft = {
  name: "",
  scopes: ["sessions:read"],
  limited: false,
  sessions: [],
  lifetime: "30",
  date: "",
};

export const toggled = (list: readonly string[], item: string, on: boolean): string[] =>
  on ? [...new Set([...list, item])] : list.filter((other) => other !== item);

/** Scopes that are no longer offered are not sent. */
function scopesOf(draft: Draft, admin: boolean): TokenBody["scopes"] {
  return offered(admin, draft.limited)
    .map((scope) => scope.id)
    .filter((id) => draft.scopes.includes(id));
}

/** The end of the chosen day where the person is. */
function endOf(date: string): number {
  return new Date(`${date}T23:59:59`).getTime();
}

export function expiryOf(draft: Draft, now: number): number | undefined {
  if (draft.lifetime === "never") return undefined;
  if (draft.lifetime === "date") return endOf(draft.date);
  return now + Number(draft.lifetime) * DAY_MS;
}

/** @returns what is missing, in words; undefined when the token can be made. */
export function validateDraft(draft: Draft, admin: boolean, now: number): string | undefined {
  if (draft.name.trim() === "") return "Enter a name so you can recognize the token.";
  if (scopesOf(draft, admin).length === 0) return "Choose at least one permission.";
  if (draft.limited && draft.sessions.length === 0) return "Choose at least one session.";
  const expiry = expiryOf(draft, now);
  if (expiry !== undefined && !(expiry > now)) return "Choose a day in the future.";
  return undefined;
}

export function bodyOf(draft: Draft, admin: boolean, now: number): TokenBody {
  const expiresAt = expiryOf(draft, now);
  return {
    name: draft.name.trim(),
    scopes: scopesOf(draft, admin),
    ...(draft.limited && { sessions: [...draft.sessions] }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
