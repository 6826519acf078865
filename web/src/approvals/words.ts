/** Approval items in words. */
import { ApiError, textOf } from "../api/errors.ts";
import type { ApprovalItemResponse, ItemKind } from "./item.ts";

const KINDS: Record<ItemKind, string> = {
  permission: "asks for permission",
  question: "asks a question",
  idle: "is ready for you",
};

export const kindWord = (kind: ItemKind): string => KINDS[kind];

/** One line for hover texts and announcements: what the agent wants. */
export function wantOf(item: ApprovalItemResponse): string {
  if (item.kind === "permission" && item.toolName) {
    const what = item.toolSummary ? `: ${item.toolSummary}` : "";
    return `wants to use ${item.toolName}${what}`;
  }
  if (item.kind === "question" && item.message) return `asks: ${item.message}`;
  return kindWord(item.kind);
}

/** The agent's own words, unless they only repeat the tool that stands above them. */
export const messageOf = (item: ApprovalItemResponse): string | undefined =>
  item.kind === "permission" && item.toolName ? undefined : item.message;

export const announcementOf = (item: ApprovalItemResponse): string => `${item.sessionName} ${wantOf(item)}`;

const MINUTE_MS = 60_000;

/** How long an item has waited, in one unit. */
export function ageText(sinceMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - sinceMs) / MINUTE_MS);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export interface Trouble {
  /** `gone`: nothing is left to answer; `changed`: look again; `kept`: it may be tried again. */
  kind: "gone" | "changed" | "kept";
  text: string;
}

/** What a refused answer means for the item (protocol-approvals). */
export function troubleOf(error: unknown): Trouble {
  const status = error instanceof ApiError ? error.status : undefined;
  if (status === 404) return { kind: "gone", text: "It was answered or has ended meanwhile." };
  if (status === 409) return { kind: "changed", text: `Not answered: ${textOf(error)}` };
  if (status === 422) return { kind: "kept", text: `Not answered, it still waits: ${textOf(error)}` };
  if (status === 0)
    return { kind: "changed", text: "The service cannot be reached; the answer may not have arrived." };
  return { kind: "kept", text: `Not answered: ${textOf(error)}` };
}
