/** What is kept of a file that is followed. */
import type { TailMessage } from "./types.ts";

/** Characters in sight; what is older goes, at the end of a line. */
export const KEPT_CHARS = 400_000;
export const FIRST_LINES = 200;

const CUT = "\n — the file was replaced — \n";

function bounded(text: string): string {
  if (text.length <= KEPT_CHARS) return text;
  const from = text.length - KEPT_CHARS;
  return text.slice(text.indexOf("\n", from) + 1 || from);
}

export interface Followed {
  text: string;
  state: "connecting" | "live" | "ended";
  problem: string;
}

export const START: Followed = { text: "", state: "connecting", problem: "" };

export function applyTailMessage(before: Followed, message: TailMessage): Followed {
  if (message.type === "connected") return { ...before, state: "live" };
  if (message.type === "data") return { ...before, text: bounded(before.text + message.data) };
  if (message.type === "truncated") return { ...before, text: bounded(before.text + CUT) };
  if (message.type === "error") return { ...before, state: "ended", problem: message.message };
  return { ...before, state: "ended" };
}
