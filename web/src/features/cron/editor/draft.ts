/** What the editor holds and what it sends. */
import type { JobPatch } from "../../../api/types.ts";
import { fromField, toField } from "../../../lib/zonetime.ts";
import {
  type Definition,
  type JobResponse,
  type Schedule,
  type ScheduleType,
  isShellMode,
} from "../jobs/job.ts";

/** Minutes of each unit that an interval is written in. */
export const UNITS = { minutes: 1, hours: 60, days: 1440 } as const;
export type Unit = keyof typeof UNITS;

/** Times as their fields hold them; what a kind of schedule does not use is kept for a change of mind. */
export interface Draft {
  name: string;
  agentType: string;
  workingDir: string;
  launchCommand: string;
  promptMode: Definition["promptMode"];
  promptText: string;
  promptFilePath: string;
  inputMode: Definition["inputMode"];
  scheduleType: ScheduleType;
  /** A `datetime-local` value, in the service's zone. */
  runAt: string;
  every: string;
  unit: Unit;
  dailyTime: string;
  weeklyDays: readonly number[];
  weeklyTime: string;
  cronExpression: string;
  enabled: boolean;
  concurrencyPolicy: Definition["concurrencyPolicy"];
  autoClosePreviousSession: boolean;
  /** Minutes; empty: the prompt alone is sent. */
  keepGoing: string;
  notes: string;
}

const DAY_MS = 86_400_000;

export function newDraft(now: number, zone: string, agentType: string, workingDir: string): Draft {
  return {
    name: "",
    agentType,
    workingDir,
    launchCommand: "",
    promptMode: "inline_text",
    promptText: "",
    promptFilePath: "",
    inputMode: "paste",
    scheduleType: "daily",
    runAt: `${toField(now + DAY_MS, zone).slice(0, 10)}T09:00`,
    every: "1",
    unit: "hours",
    dailyTime: "09:00",
    weeklyDays: [1],
    weeklyTime: "09:00",
    cronExpression: "0 9 * * 1-5",
    enabled: true,
    concurrencyPolicy: "warn_only",
    autoClosePreviousSession: true,
    keepGoing: "",
    notes: "",
  };
}

function unitOf(minutes: number): Unit {
  if (minutes % UNITS.days === 0) return "days";
  return minutes % UNITS.hours === 0 ? "hours" : "minutes";
}

export function draftOf(job: JobResponse, now: number, zone: string): Draft {
  const fresh = newDraft(now, zone, job.agentType, job.workingDir);
  const unit = job.intervalMinutes ? unitOf(job.intervalMinutes) : fresh.unit;
  return {
    ...fresh,
    name: job.name,
    launchCommand: job.launchCommand ?? "",
    promptMode: job.promptMode,
    promptText: job.promptText ?? "",
    promptFilePath: job.promptFilePath ?? "",
    inputMode: job.inputMode,
    scheduleType: job.scheduleType,
    runAt: job.runAt ? toField(job.runAt, zone) : fresh.runAt,
    every: job.intervalMinutes ? String(job.intervalMinutes / UNITS[unit]) : fresh.every,
    unit,
    dailyTime: job.dailyTime ?? fresh.dailyTime,
    weeklyDays: job.weeklyDays ?? fresh.weeklyDays,
    weeklyTime: job.weeklyTime ?? fresh.weeklyTime,
    cronExpression: job.cronExpression ?? fresh.cronExpression,
    enabled: job.enabled,
    concurrencyPolicy: job.concurrencyPolicy,
    autoClosePreviousSession: job.autoClosePreviousSession ?? true,
    keepGoing: job.keepGoingMinutes ? String(job.keepGoingMinutes) : "",
    notes: job.notes ?? "",
  };
}

/** Whether a run tells its agent to continue after each turn; a shell has no turns. */
export const keepsGoing = (draft: Draft): boolean => draft.keepGoing !== "" && !isShellMode(draft.agentType);

export const minutesOf = (draft: Draft): number => Number(draft.every) * UNITS[draft.unit];

export function scheduleOf(draft: Draft, zone: string): Schedule {
  const { scheduleType } = draft;
  switch (scheduleType) {
    case "once":
      return { scheduleType, runAt: fromField(draft.runAt, zone) ?? null };
    case "interval":
      return { scheduleType, intervalMinutes: minutesOf(draft) };
    case "daily":
      return { scheduleType, dailyTime: draft.dailyTime };
    case "weekly":
      return { scheduleType, weeklyDays: [...draft.weeklyDays], weeklyTime: draft.weeklyTime };
    case "cron":
      return { scheduleType, cronExpression: draft.cronExpression.trim() };
  }
}

const orNone = (text: string): string | null => text.trim() || null;

/** Only the fields that the chosen kinds use; an empty optional one is none. */
export function bodyOf(draft: Draft, zone: string): Definition {
  const inline = draft.promptMode === "inline_text";
  return {
    name: draft.name.trim(),
    agentType: draft.agentType,
    workingDir: draft.workingDir.trim(),
    launchCommand: isShellMode(draft.agentType) ? orNone(draft.launchCommand) : null,
    promptMode: draft.promptMode,
    ...(inline ? { promptText: draft.promptText } : { promptFilePath: draft.promptFilePath.trim() }),
    inputMode: draft.inputMode,
    ...scheduleOf(draft, zone),
    enabled: draft.enabled,
    concurrencyPolicy: draft.concurrencyPolicy,
    autoClosePreviousSession: draft.autoClosePreviousSession,
    keepGoingMinutes: keepsGoing(draft) ? Number(draft.keepGoing) : null,
    notes: orNone(draft.notes),
  };
}

/** What a change of a job sends: fields that nobody touched stay as they are, to the second. */
export function changesOf(before: Draft, after: Draft, zone: string): JobPatch {
  const old = new Map(Object.entries(bodyOf(before, zone)));
  const changed = Object.entries(bodyOf(after, zone)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  return Object.fromEntries(changed) as JobPatch;
}
