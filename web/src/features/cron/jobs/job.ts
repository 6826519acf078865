/** Saved jobs and their runs, as they come over the wire (protocol-cron-job, protocol-cron-run). */
import type { JobBody, RunResponse } from "../../../api/types.ts";

export type { JobResponse, RunResponse } from "../../../api/types.ts";

/** The part of a job that a person writes. */
export type Definition = JobBody;

/** What says when a job fires; only the fields of its kind count. */
export type Schedule = Pick<
  Definition,
  "scheduleType" | "runAt" | "intervalMinutes" | "dailyTime" | "weeklyDays" | "weeklyTime" | "cronExpression"
>;

export type PromptMode = Definition["promptMode"];
export type InputMode = Definition["inputMode"];
export type ScheduleType = Definition["scheduleType"];
export type ConcurrencyPolicy = Definition["concurrencyPolicy"];
export type RunStatus = RunResponse["status"];

/** Bounds of protocol-cron-job. */
export const NAME_MAX = 200;
export const LINE_MAX = 2000;
export const PROMPT_MAX = 100_000;
export const MINUTES_MAX = 525_600;

/** `once` has nothing that could still be open from the run before. */
export const closesPrevious = (job: Definition): boolean =>
  job.scheduleType !== "once" && job.autoClosePreviousSession !== false;
