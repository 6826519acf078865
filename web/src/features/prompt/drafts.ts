/** What stands unsent in each session's prompt box, kept over a reload of this tab. */
import type { Ticket } from "./delivery.ts";

export interface Kept {
  draft: string;
  /** An attempt whose end is not known. */
  ticket?: Ticket;
}

export const DRAFTS_MAX = 30;

export type Drafts = ReadonlyMap<string, Kept>;

export function keepDraft(drafts: Drafts, id: string, kept: Kept): Drafts {
  const next = new Map(drafts);
  next.delete(id);
  if (kept.draft !== "") next.set(id, kept);
  return new Map([...next].slice(-DRAFTS_MAX));
}

export const writeDrafts = (drafts: Drafts): string => JSON.stringify([...drafts]);

function ticketOf(value: unknown): Ticket | undefined {
  const { clientId, seq, text } = (value ?? {}) as Partial<Ticket>;
  if (typeof clientId !== "string" || typeof seq !== "number" || typeof text !== "string") return undefined;
  return { clientId, seq, text };
}

function entryOf(value: unknown): [string, Kept][] {
  if (!Array.isArray(value)) return [];
  const [id, kept] = value as [unknown, { draft?: unknown; ticket?: unknown } | null];
  if (typeof id !== "string" || typeof kept?.draft !== "string") return [];
  const ticket = ticketOf(kept.ticket);
  return [[id, { draft: kept.draft, ...(ticket && { ticket }) }]];
}

export function readDrafts(text: string | null): Drafts {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return new Map(Array.isArray(value) ? value.flatMap(entryOf).slice(-DRAFTS_MAX) : []);
  } catch {
    return new Map();
  }
}
