/** The pages of the log that were asked for, the newest entry first. */
import { signal } from "@preact/signals";
import { getErrorText } from "../../api/errors.ts";
import { api } from "../../api/client.ts";
import type { AuditEntryResponse } from "../../api/types.ts";

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

/** Entries on the page at most; then a filter finds more than reading on. */
export const SHOWN_MAX = 2_000;

export const filter = signal<Filter>(NO_FILTER);
export const entries = signal<readonly AuditEntryResponse[]>([]);
/** Where the next page begins; undefined at the end of the log. */
export const next = signal<number | undefined>(undefined);
export const reading = signal(false);
export const trouble = signal("");

let current: AbortController | undefined;

/** A later question makes the answer to an earlier one worthless. */
async function read(before?: number): Promise<void> {
  current?.abort();
  const mine = new AbortController();
  current = mine;
  reading.value = true;
  try {
    const page = await api.get("/api/admin/audit", {
      query: queryOf(filter.peek(), before),
      signal: mine.signal,
    });
    const known = before === undefined ? [] : entries.peek();
    entries.value = [...known, ...page.entries].slice(0, SHOWN_MAX);
    next.value = entries.value.length < SHOWN_MAX ? page.next : undefined;
    trouble.value = "";
  } catch (error) {
    if (mine.signal.aborted) return;
    trouble.value = getErrorText(error);
  }
  if (current === mine) reading.value = false;
}

export const readFirst = () => read();
export const readMore = () => read(next.peek());

export function ask(part: Partial<Filter>): void {
  filter.value = { ...filter.peek(), ...part };
  void readFirst();
}

/** @returns a function that forgets what was read. */
export function openAudit(): () => void {
  void readFirst();
  return () => {
    current?.abort();
    filter.value = NO_FILTER;
    entries.value = [];
    next.value = undefined;
  };
}
