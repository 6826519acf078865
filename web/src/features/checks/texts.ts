/** Checks and their outcomes in words and marks. */
import type { CheckOutcomePayload, ChecksPayload } from "../../api/types.ts";

export type Mark = "good" | "bad" | "busy" | "none";

const RED = new Set(["failed", "timed_out", "flooded"]);

export function markOf(state: string): Mark {
  if (state === "passed" || state === "green") return "good";
  if (RED.has(state) || state === "red") return "bad";
  return state === "waiting" || state === "running" ? "busy" : "none";
}

const SIGNS: Record<Mark, string> = { good: "✓", bad: "✗", busy: "…", none: "–" };

/** @returns such as `tests ✓ 214`. */
export function formatOutcome({ name, state, passed, failed }: CheckOutcomePayload): string {
  const mark = markOf(state);
  const count = mark === "bad" ? failed : mark === "good" ? passed : undefined;
  return [name, SIGNS[mark], count?.toLocaleString("en")].filter((part) => part !== undefined).join(" ");
}

const WORDS: Readonly<Record<string, string>> = {
  waiting: "waits",
  running: "runs",
  green: "green",
  red: "red",
  passed: "passed",
  failed: "failed",
  timed_out: "did not end in time",
  flooded: "printed too much",
  cancelled: "cancelled",
  interrupted: "interrupted",
  unavailable: "not available",
};

export const describeState = (state: string): string => WORDS[state] ?? state;

/** @returns what follows a run, if a person should know. */
export function describeFollowUp({ followUp, attempt }: Pick<ChecksPayload, "followUp" | "attempt">): string {
  if (followUp === "sending" || followUp === "sent") return `Sent to the agent (attempt ${attempt + 1}).`;
  if (followUp === "notified" && attempt > 0)
    return `Given up after ${attempt === 1 ? "one attempt" : `${attempt} attempts`}.`;
  return "";
}
