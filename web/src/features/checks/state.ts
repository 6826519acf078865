/** The last run of each session's checks, and the words and marks for it. */
import { signal } from "@preact/signals";
import { api } from "../../api/client.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import type { CheckOutcomePayload, ChecksPayload } from "../../api/types.ts";
import { showError } from "../../store/toasts.ts";

export type Mark = "good" | "bad" | "busy" | "none";

/** Of each session that has one. */
export const lastRuns = signal<ReadonlyMap<string, ChecksPayload>>(new Map());

/** The session whose results are open. */
export const openResults = signal<string | undefined>(undefined);

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

/** Follow what the service says for as long as the page lives. */
export function followChecks(): void {
  onServerEvent("init", ({ checks }) => {
    lastRuns.value = new Map((checks ?? []).map((each) => [each.sessionId, each]));
  });
  const keep = (told: ChecksPayload) => {
    lastRuns.value = new Map(lastRuns.peek()).set(told.sessionId, told);
  };
  onServerEvent("check:started", keep);
  onServerEvent("check:finished", keep);
  onServerEvent("session:deleted", ({ id }) => {
    const left = new Map(lastRuns.peek());
    if (left.delete(id)) lastRuns.value = left;
  });
}

export async function runChecks(id: string): Promise<void> {
  try {
    await api.post("/api/sessions/{id}/checks/run", { path: { id } });
  } catch (error) {
    showError("Couldn't run the checks", error);
  }
}

export async function cancelChecks(id: string): Promise<void> {
  try {
    await api.delete("/api/sessions/{id}/checks/run", { path: { id } });
  } catch (error) {
    showError("Couldn't cancel the checks", error);
  }
}
