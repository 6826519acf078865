/** The prompt box of each session: its text, what became of the last send, its history. */
import { effect, signal } from "@preact/signals";
import { needsYou } from "../approvals/state.ts";
import { bracketed, compose, trayProblem } from "../attach/compose.ts";
import { clearTray, itemsOf, putItems } from "../attach/tray.ts";
import { request } from "../../api/client.ts";
import { sessionPath } from "../../api/paths.ts";
import { uuid } from "../../lib/ids.ts";
import { readStored, writeStored } from "../../lib/stored.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import {
  type Delivery,
  describeFailure,
  HELD_AFTER_MS,
  INPUT_MAX,
  type InputAnswer,
  isAccepted,
  isUnderWay,
  readOutcome,
  type Ticket,
  reuseTicket,
} from "./delivery.ts";
import { type Drafts, keepDraft, readDrafts, writeDrafts } from "./drafts.ts";
import { addToHistory, readPromptHistory, type Walk, walkTo, serializePromptHistory } from "./history.ts";

const BOOK_KEY = "tservice.prompts";
const DRAFTS_KEY = "tservice.drafts";
/** How long a good outcome stays in sight (ms). */
const SHOWN_MS = 4_000;

export interface PromptState {
  draft: string;
  ticket?: Ticket | undefined;
  delivery?: Delivery | undefined;
  walkHistory?: Walk | undefined;
}

const EMPTY: PromptState = { draft: "" };

function storedDrafts(): Drafts {
  try {
    return readDrafts(sessionStorage.getItem(DRAFTS_KEY));
  } catch {
    return new Map();
  }
}

const boxes = signal<ReadonlyMap<string, PromptState>>(storedDrafts());

export const getPromptState = (id: string): PromptState => boxes.value.get(id) ?? EMPTY;

function storeDrafts(): void {
  let drafts: Drafts = new Map();
  for (const [id, { draft, ticket }] of boxes.peek())
    drafts = keepDraft(drafts, id, { draft, ...(ticket && { ticket }) });
  try {
    sessionStorage.setItem(DRAFTS_KEY, writeDrafts(drafts));
  } catch (error) {
    console.warn("this browser keeps no drafts", error);
  }
}

function change(id: string, part: Partial<PromptState>): void {
  const before = boxes.peek().get(id) ?? EMPTY;
  boxes.value = new Map(boxes.peek()).set(id, { ...before, ...part });
  storeDrafts();
}

function forgetBox(id: string): void {
  const next = new Map(boxes.peek());
  next.delete(id);
  boxes.value = next;
  storeDrafts();
}

/** Prompts that wait for an answer, and whose session waits for none any more. */
function sendAnswered(): void {
  for (const [id, { delivery }] of boxes.value)
    if (delivery?.state === "after" && !needsYou(id)) queueMicrotask(() => void sendPrompt(id));
}

/** A session that is gone needs no box. */
export function followPrompts(): void {
  onServerEvent("session:deleted", ({ id }) => forgetBox(id));
  effect(sendAnswered);
}

/** Keep the prompt in the box, and send it once the open dialog is answered. */
export const sendAfterAnswer = (id: string): void => change(id, { delivery: { state: "after" } });

/** Leave the prompt in the box, as it was before it was sent. */
export const keepUnsent = (id: string): void => change(id, { delivery: undefined });

export const writeDraft = (id: string, draft: string): void =>
  change(id, { draft, walkHistory: undefined, delivery: undefined });

/** @returns whether there was a prompt that way. */
export function walk(id: string, step: 1 | -1): boolean {
  const box = boxes.peek().get(id) ?? EMPTY;
  const prompts = readPromptHistory(readStored(BOOK_KEY)).get(id) ?? [];
  const found = walkTo(prompts, box.walkHistory, box.draft, step);
  if (found) change(id, { draft: found.text, walkHistory: found.walk, delivery: undefined });
  return found !== undefined;
}

/** @returns so many prompts of all sessions, each once, those of the session used last first. */
export function sentBefore(most: number): string[] {
  const all = [...readPromptHistory(readStored(BOOK_KEY)).values()].flat().toReversed();
  return [...new Set(all)].slice(0, most);
}

/** Another name than the terminal's, whose own numbers run apart from these. */
const clientId = `prompt-${uuid()}`;
let lastSeq = 0;

function showFor(id: string, delivery: Delivery): void {
  setTimeout(() => {
    if (boxes.peek().get(id)?.delivery === delivery) change(id, { delivery: undefined });
  }, SHOWN_MS);
}

/** Counted with what is typed in the terminal, until the session's host is back. */
async function noteHeld(id: string, chars: number): Promise<void> {
  try {
    (await import("../hosts/unreachable.ts")).addQueuedInput(id, chars);
  } catch (error) {
    console.warn("what is kept is not counted", error);
  }
}

function arrived(id: string, text: string, delivery: Delivery): void {
  if (text !== "")
    writeStored(
      BOOK_KEY,
      serializePromptHistory(addToHistory(readPromptHistory(readStored(BOOK_KEY)), id, text)),
    );
  clearTray(id);
  if (delivery.state === "buffered") void noteHeld(id, text.length);
  change(id, { draft: "", ticket: undefined, walkHistory: undefined, delivery });
  showFor(id, delivery);
}

/** What the agent takes from a paste of its own; not again when its prompt is sent again. */
async function pasteFiles(id: string, pastes: readonly { key: number; path: string }[]): Promise<void> {
  for (const { key, path } of pastes) {
    // Its own number: tried again after an answer that never came, it is pasted once.
    const body = { input: bracketed(path), useMux: false, clientId: `${clientId}-files`, seq: key };
    await request<InputAnswer>("POST", sessionPath(id, "/input"), { body });
    putItems(
      id,
      itemsOf(id).map((each) => (each.key === key ? { ...each, pasted: true } : each)),
    );
  }
}

async function deliver(id: string, ticket: Ticket): Promise<Delivery> {
  const { text, ...mark } = ticket;
  try {
    await pasteFiles(id, compose("", itemsOf(id)).pastes);
    // Without a text there is only the key that sends what was pasted.
    const body = { input: `${text}\r`, useMux: text !== "", ...mark };
    return readOutcome(await request<InputAnswer>("POST", sessionPath(id, "/input"), { body }));
  } catch (error) {
    return describeFailure(error);
  }
}

/** Send the box's text as one prompt. It leaves the box only when the service has it. */
export async function sendPrompt(id: string): Promise<void> {
  const box = boxes.peek().get(id) ?? EMPTY;
  const items = itemsOf(id);
  const written = box.draft.trimEnd();
  if ((written.trim() === "" && items.length === 0) || isUnderWay(box.delivery)) return;
  const hindrance = trayProblem(items);
  if (hindrance !== undefined)
    return change(id, { delivery: { state: "failed", text: hindrance, unknown: false } });
  const { text } = compose(written, items);
  if (text.length >= INPUT_MAX) {
    const long = `Not sent: ${text.length.toLocaleString("en")} of at most ${(INPUT_MAX - 1).toLocaleString("en")} characters.`;
    return change(id, { delivery: { state: "failed", text: long, unknown: false } });
  }
  const ticket = reuseTicket(text, box.ticket, () => ({ clientId, seq: ++lastSeq }));
  change(id, { ticket, delivery: { state: "sending" } });
  const held = setTimeout(() => change(id, { delivery: { state: "held" } }), HELD_AFTER_MS);
  const delivery = await deliver(id, ticket);
  clearTimeout(held);
  if (isAccepted(delivery)) return arrived(id, written, delivery);
  const open = delivery.state === "failed" && delivery.unknown;
  change(id, { delivery, ticket: open ? ticket : undefined });
}
