/** Whether a session shows its terminal, its conversation, or both; kept by this device. */
import { computed, effect, signal } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { readStored, writeStored } from "../../lib/stored.ts";
import { activeSession } from "../../store/state.ts";
import { narrow, wide } from "../../ui/width.ts";
import { gridOn } from "../grid/state.ts";

export type View = "terminal" | "conversation" | "both";

const KEY = "tservice.view";
const VIEWS: readonly string[] = ["terminal", "conversation", "both"];
/** Modes whose agents keep a record that the service reads. */
const RECORDED: ReadonlySet<string> = new Set([
  "primary",
  "codex",
  "copilot",
  "gemini",
  "opencode",
  "pi",
  "qwen",
]);

/** What was chosen on this device; undefined: nothing yet. */
export const chosenView = signal<View | undefined>(undefined);

export const parseView = (text: string | null): View | undefined =>
  text !== null && VIEWS.includes(text) ? (text as View) : undefined;

export const hasRecord = ({ mode }: Session): boolean => RECORDED.has(mode);

/** @returns what fits into the window: a phone has no room for both. */
export function fitView(chosen: View | undefined, room: { narrow: boolean; wide: boolean }): View {
  if (room.narrow) return chosen === "terminal" ? "terminal" : "conversation";
  return chosen === "both" && !room.wide ? "conversation" : (chosen ?? "terminal");
}

/** Of the session in front. Several terminals side by side are terminals. */
export const view = computed<View>(() => {
  const session = activeSession.value;
  if (!session || !hasRecord(session) || gridOn.value) return "terminal";
  return fitView(chosenView.value, { narrow: narrow.value, wide: wide.value });
});

export function startViewChoice(): void {
  chosenView.value = parseView(readStored(KEY));
  effect(() => {
    if (chosenView.value !== undefined) writeStored(KEY, chosenView.value);
  });
}
