/** Saved jobs and their runs, as they come over the wire (protocol-cron-job, protocol-cron-run). */

export type PromptMode = "inline_text" | "prompt_file_path";
export type InputMode = "paste" | "typed";
export type ScheduleType = "once" | "interval" | "daily" | "weekly" | "cron";
export type ConcurrencyPolicy = "warn_only" | "skip_if_same_agent_running";
export type RunStatus = "created" | "session_started" | "prompt_sent" | "failed" | "skipped";

/** What says when a job fires; only the fields of its kind count. */
export interface Schedule {
  scheduleType: ScheduleType;
  /** Unix milliseconds. */
  runAt?: number | null;
  intervalMinutes?: number | null;
  /** `HH:MM` of the service's zone. */
  dailyTime?: string | null;
  /** 0 is Sunday. */
  weeklyDays?: number[] | null;
  weeklyTime?: string | null;
  /** Five fields, in the service's zone. */
  cronExpression?: string | null;
}

/** The part of a job that a person writes. */
export interface Definition extends Schedule {
  name: string;
  agentType: string;
  workingDir: string;
  launchCommand?: string | null;
  promptMode: PromptMode;
  promptText?: string | null;
  promptFilePath?: string | null;
  inputMode: InputMode;
  enabled: boolean;
  concurrencyPolicy: ConcurrencyPolicy;
  autoClosePreviousSession?: boolean | null;
  notes?: string | null;
}

export interface Job extends Definition {
  id: string;
  owner?: string | null;
  createdAt: number;
  updatedAt: number;
  lastRunAt: number | null;
  nextRunAt: number | null;
  lastStatus: RunStatus | null;
  /** Opaque; the service's guard against firing twice. */
  lastDueKey: string | null;
  completedOnce?: boolean | null;
}

export interface Run {
  id: string;
  cronJobId: string;
  sessionId: string | null;
  sessionName: string | null;
  startedAt: number;
  /** The end of launch and delivery, not of the agent's work. */
  finishedAt: number | null;
  status: RunStatus;
  errorMessage?: string | null;
  triggerType: "scheduled" | "manual_run_now";
  createdSessionUrl: string | null;
}

/** Bounds of protocol-cron-job. */
export const NAME_MAX = 200;
export const LINE_MAX = 2000;
export const PROMPT_MAX = 100_000;
export const MINUTES_MAX = 525_600;

/** `once` has nothing that could still be open from the run before. */
export const closesPrevious = (job: Definition): boolean =>
  job.scheduleType !== "once" && job.autoClosePreviousSession !== false;
