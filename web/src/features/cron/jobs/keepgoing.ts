/** Runs that keep going, in words. */
import type { RunResponse } from "./job.ts";

type KeepGoing = NonNullable<RunResponse["keepGoing"]>;

export const keepsGoing = (run: RunResponse): boolean => run.keepGoing?.state === "running";

/** `1 h 20 min`, `5 min`. */
export function formatSpan(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  return [hours > 0 && `${hours} h`, (rest > 0 || hours === 0) && `${rest} min`].filter(Boolean).join(" ");
}

/** What is left of a run; of one that is over, what it had. */
export function describeTime({ state, minutes, endAt }: KeepGoing, now: number): string {
  if (state !== "running") return `of ${formatSpan(minutes)}`;
  // The page may have read its clock before the run began.
  const left = Math.min(minutes, Math.max(0, Math.ceil((endAt - now) / 60_000)));
  return `${formatSpan(left)} left of ${formatSpan(minutes)}`;
}

/** A line of its log without the moment: the last one says how it stands. */
export const lastLine = ({ logs }: KeepGoing): string => (logs.at(-1) ?? "").replace(/^\S+ /, "");
