/** What a person does with an item; what comes of it is kept beside the item. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { dropItem } from "./inbox.ts";
import type { Answer, ApprovalItemResponse } from "./item.ts";
import { forgetSent, HELD_MS, isJustSent, noteDismissed, noteSent } from "./sent.ts";
import { approvals, refresh, setInbox } from "./state.ts";
import { describeAnswerProblem } from "./cardtexts.ts";

/** Items whose answer is under way. */
export const answering = signal<ReadonlySet<string>>(new Set());

/** Whether an item is being answered, or was a moment ago: its card keeps its place. */
export const keepsPlace = (id: string): boolean => isJustSent(id) || answering.value.has(id);

/** Why the last answer to an item was not taken, by item; replaced by the next answer. */
export const answerProblems = signal<ReadonlyMap<string, string>>(new Map());

/** More than this many texts are never shown at once: one for each live session (protocol-sessions). */
const TROUBLES_MAX = 50;

function note(id: string, text: string | undefined): void {
  const next = new Map(answerProblems.peek());
  next.delete(id);
  if (text !== undefined) next.set(id, text);
  answerProblems.value = new Map([...next].slice(-TROUBLES_MAX));
}

function mark(id: string, busy: boolean): void {
  const next = new Set(answering.peek());
  if (busy) next.add(id);
  else next.delete(id);
  answering.value = next;
}

const forget = (id: string): void => setInbox((before) => dropItem(before, id));

async function refused(item: ApprovalItemResponse, error: unknown): Promise<void> {
  const trouble = describeAnswerProblem(error);
  if (trouble.kind === "gone") {
    forget(item.id);
    showToast("info", item.sessionName, trouble.text);
    return;
  }
  note(item.id, trouble.text);
  if (trouble.kind !== "changed") return;
  await refresh();
  const still = approvals.peek().some((other) => other.id === item.id);
  if (!still) showToast("info", item.sessionName, trouble.text);
}

/**
 * @returns whether the answer was taken. The item goes when the service says that its dialog
 * left the screen: an option may lead to another page (protocol-approvals).
 */
export async function answer(item: ApprovalItemResponse, chosen: Answer): Promise<boolean> {
  if (answering.peek().has(item.id)) return false;
  mark(item.id, true);
  note(item.id, undefined);
  try {
    // Another dialog than the one that the person saw is not answered (409).
    await api.post("/api/approvals/{item}/answer", {
      path: { item: item.id },
      body: { ...chosen, expectFrame: item.frame },
    });
    noteSent(item, chosen);
    return true;
  } catch (error) {
    await refused(item, error);
    return false;
  } finally {
    mark(item.id, false);
  }
}

/** Dismissals that can be taken back, with the timer that sends them. */
const undoable = signal<ReadonlyMap<string, ReturnType<typeof setTimeout>>>(new Map());

export const isUndoable = (id: string): boolean => undoable.value.has(id);

function takeTimer(id: string): ReturnType<typeof setTimeout> | undefined {
  const left = new Map(undoable.peek());
  const timer = left.get(id);
  if (left.delete(id)) undoable.value = left;
  return timer;
}

/** Dismiss an item. The service learns it when the card goes: until then it can be taken back. */
export function dismiss(item: ApprovalItemResponse): void {
  if (undoable.peek().has(item.id)) return;
  // Before the timer of the card, which opens again otherwise.
  const timer = setTimeout(() => void sendDismissal(item), HELD_MS);
  undoable.value = new Map(undoable.peek()).set(item.id, timer);
  noteDismissed(item);
}

export function undoDismiss(id: string): void {
  const timer = takeTimer(id);
  if (timer === undefined) return;
  clearTimeout(timer);
  forgetSent(id);
}

async function sendDismissal(item: ApprovalItemResponse): Promise<void> {
  takeTimer(item.id);
  forget(item.id);
  try {
    await api.post("/api/approvals/{item}/dismiss", { path: { item: item.id } });
  } catch (error) {
    if (describeAnswerProblem(error).kind === "gone") return;
    showError("Couldn't dismiss the item", error);
    await refresh();
  }
}
