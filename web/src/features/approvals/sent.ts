/** Answers that were taken; their cards keep their place for a moment. */
import { signal } from "@preact/signals";
import type { Answer, ApprovalItemResponse } from "./item.ts";

/** How long a card says what was sent before it goes or shows the next page (ms). */
export const HELD_MS = 2_000;
/** One for each live session (protocol-sessions). */
const KEPT_MOST = 50;

/** What was done, by item: the last ones. */
const sent = signal<ReadonlyMap<string, string>>(new Map());
/** Items that were answered a moment ago. */
const fresh = signal<ReadonlySet<string>>(new Set());

/** What was done with an item, in words. */
export const describeSent = (id: string): string => sent.value.get(id) ?? "No longer waiting";

export const isJustSent = (id: string): boolean => fresh.value.has(id);

const labelsOf = (item: ApprovalItemResponse, numbers: readonly number[]): string =>
  (item.options ?? [])
    .filter(({ n }) => numbers.includes(n))
    .map(({ label }) => label)
    .join(", ");

function describeAnswer(item: ApprovalItemResponse, answer: Answer): string {
  if (answer.action === "option") return labelsOf(item, [answer.option]);
  if (answer.action === "options") return labelsOf(item, answer.options);
  if (answer.action === "text") return answer.text;
  if (answer.action === "approve") return "Approve";
  if (answer.reason !== undefined) return `No, ${answer.reason}`;
  return item.kind === "question" ? "Skip" : "Deny";
}

function note(id: string, words: string): void {
  sent.value = new Map([...new Map(sent.peek()).set(id, words)].slice(-KEPT_MOST));
  fresh.value = new Set(fresh.peek()).add(id);
  setTimeout(() => release(id), HELD_MS);
}

function release(id: string): void {
  const left = new Set(fresh.peek());
  if (left.delete(id)) fresh.value = left;
}

export const noteSent = (item: ApprovalItemResponse, answer: Answer): void =>
  note(item.id, `Sent: ${describeAnswer(item, answer)}`);

export const noteDismissed = (item: ApprovalItemResponse): void => note(item.id, "Dismissed");

/** It was taken back: its card is as before. */
export const forgetSent = release;
