/** Goes from an item of a conversation to its place in the terminal, and back. */
import { signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import { searchHistory } from "../../api/calls.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { historyOpen } from "../../ui/pages/openpanels.ts";
import { wide } from "../../ui/width.ts";
import { chosenView, view } from "./choice.ts";
import type { Item } from "./items.ts";
import { findPlace, listPhrases } from "./places.ts";
import type { Conversation } from "./source.ts";

/** Earlier pages that are read for a place. */
const PAGES_MAX = 40;

/** Open the terminal's history where it shows these items; say so where it does not. */
export async function showInTerminal(sessionId: string, items: readonly Item[]): Promise<void> {
  try {
    for (const query of listPhrases(items)) {
      const { matches } = await searchHistory(sessionId, query, true, new AbortController().signal);
      if (matches.length === 0) continue;
      historyOpen.value = { sessionId, query };
      return;
    }
    showToast(
      "info",
      "Not found in the terminal",
      "Its history no longer has this text, or the agent shows it in other words.",
    );
  } catch (error) {
    showError("Couldn't search the terminal", error);
  }
}

/** Rows of a terminal whose place in the conversation is wanted. */
export interface Wanted {
  sessionId: string;
  rows: readonly string[];
  chosen: boolean;
}

export const wanted = signal<Wanted | undefined>(undefined);

function readRows(terminal: Terminal): { rows: string[]; chosen: boolean } {
  const selected = terminal.getSelection().trim();
  if (selected !== "") return { rows: selected.split("\n"), chosen: true };
  const { active } = terminal.buffer;
  const rows = Array.from(
    { length: terminal.rows },
    (_, at) => active.getLine(active.viewportY + at)?.translateToString(true) ?? "",
  );
  return { rows: orderRows(rows, active.viewportY === active.baseY), chosen: false };
}

/** @returns the newest row first, or where older ones are looked at the middle one. */
function orderRows(rows: readonly string[], atEnd: boolean): string[] {
  if (atEnd) return rows.toReversed();
  const middle = Math.floor(rows.length / 2);
  const order = rows.map((row, at) => ({ row, far: Math.abs(at - middle) }));
  return order.toSorted((a, b) => a.far - b.far).map(({ row }) => row);
}

/** Show the conversation where it has what is selected in the terminal, else what is in sight there. */
export function showInConversation(sessionId: string, terminal: Terminal): void {
  wanted.value = { sessionId, ...readRows(terminal) };
  if (view.peek() === "terminal") chosenView.value = wide.peek() ? "both" : "conversation";
}

/** @returns the item that shows these rows; older ones are read until one is found. */
export async function findWanted(conversation: Conversation, sought: Wanted): Promise<string | undefined> {
  for (let page = 0; ; page += 1) {
    const place = findPlace(conversation.items.peek(), sought.rows, sought.chosen);
    const last = page >= PAGES_MAX || !conversation.hasOlder.peek() || conversation.problem.peek() !== "";
    if (place && (place.sure || last)) return place.id;
    if (last) break;
    await conversation.loadOlder();
  }
  showToast(
    "info",
    "Not found in the conversation",
    sought.chosen
      ? "The agent's record does not have the selected text."
      : "The agent's record has none of these rows.",
  );
  return undefined;
}
