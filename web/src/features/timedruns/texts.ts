/** Timed runs in words (protocol-legacy). */
import type { TimedRunResponse } from "../../api/types.ts";

const WORDS: Record<TimedRunResponse["status"], string> = {
  running: "Running",
  completed: "Time is up",
  stopped: "Stopped",
  failed: "Failed",
};
const TONES: Record<TimedRunResponse["status"], string> = {
  running: "accent",
  completed: "plain",
  stopped: "plain",
  failed: "warn",
};

export const describeStatus = (run: TimedRunResponse): string => WORDS[run.status];
export const statusTone = (run: TimedRunResponse): string => TONES[run.status];

/** `1 h 20 min`, `5 min`. */
export function formatSpan(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`].filter(Boolean).join(" ");
}

/** What is left of a run; of one that is over, what it had. */
export function describeTime(run: TimedRunResponse, now: number): string {
  if (run.status !== "running") return `of ${formatSpan(run.durationMinutes)}`;
  // The page may have read its clock before the run began.
  const left = Math.min(run.durationMinutes, Math.max(0, Math.ceil((run.endAt - now) / 60_000)));
  return `${formatSpan(left)} left of ${formatSpan(run.durationMinutes)}`;
}

/** A line of its log without the moment: the last one says how it stands. */
export const lastLine = (run: TimedRunResponse): string => (run.logs.at(-1) ?? "").replace(/^\S+ /, "");
