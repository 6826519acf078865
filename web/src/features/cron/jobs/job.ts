/** Saved jobs and their runs, as they come over the wire (protocol-cron-job, protocol-cron-run). */
import { cliOf } from "../../../store/state.ts";
import type { JobBody, JobResponse, RunResponse } from "../../../api/types.ts";

export type { JobResponse, RunResponse };

/** Whether a mode runs a plain shell: only there is a command run before the input. */
export const isShellMode = (mode: string): boolean => (cliOf(mode)?.kind ?? mode) === "shell";

export const DAY_NAMES = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

/** Monday first, as calendars show it where the 24-hour clock is used. */
export const WEEK: readonly number[] = [1, 2, 3, 4, 5, 6, 0];

export const shortDay = (day: number): string => (DAY_NAMES[day] ?? "?").slice(0, 3);

const two = (value: number): string => String(value).padStart(2, "0");

export const clock = (hour: number, minute: number): string => `${two(hour)}:${two(minute)}`;

/** `Mon, Wed and Fri`, `every weekday`, `weekends`, `every day`. */
export function formatDays(days: readonly number[]): string {
  const sorted = WEEK.filter((day) => days.includes(day));
  if (sorted.length === 7) return "every day";
  const key = sorted.join("");
  if (key === "12345") return "every weekday";
  if (key === "60") return "weekends";
  if (sorted.length === 1) return `every ${DAY_NAMES[sorted[0] ?? 0]}`;
  const names = sorted.map(shortDay);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The part of a job that a person writes. */
export type Definition = JobBody;

/** What says when a job fires; only the fields of its kind count. */
export type Schedule = Pick<
  Definition,
  "scheduleType" | "runAt" | "intervalMinutes" | "dailyTime" | "weeklyDays" | "weeklyTime" | "cronExpression"
>;

export type ScheduleType = Definition["scheduleType"];
export type RunStatus = RunResponse["status"];

/** Bounds of protocol-cron-job. */
export const NAME_MAX = 200;
export const LINE_MAX = 2000;
export const PROMPT_MAX = 100_000;
export const MINUTES_MAX = 525_600;
export const KEEP_GOING_MAX = 14_400;

/** A job of the deprecated `/api/scheduled`: it has run, and is not changed. */
export const isTimedRun = (job: JobResponse): boolean => job.id.startsWith("timed-");

/** `once` has nothing that could still be open from the run before. */
export const closesPrevious = (job: Definition): boolean =>
  job.scheduleType !== "once" && job.autoClosePreviousSession !== false;
