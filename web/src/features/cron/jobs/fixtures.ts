/** A job and a run to vary in tests. */
import type { KeepGoingResponse } from "../../../api/types.ts";
import type { JobResponse, RunResponse } from "./job.ts";

export const job = (part: Partial<JobResponse> = {}): JobResponse => ({
  id: "j1",
  name: "nightly",
  agentType: "primary",
  workingDir: "/home/demo/work",
  promptMode: "inline_text",
  promptText: "go on",
  inputMode: "paste",
  scheduleType: "daily",
  dailyTime: "03:30",
  enabled: true,
  concurrencyPolicy: "warn_only",
  autoClosePreviousSession: true,
  createdAt: 1,
  updatedAt: 1,
  lastRunAt: null,
  nextRunAt: null,
  lastStatus: null,
  lastDueKey: null,
  ...part,
});

export const run = (part: Partial<RunResponse> = {}): RunResponse => ({
  id: "r1",
  cronJobId: "j1",
  sessionId: "s1",
  sessionName: "nightly",
  startedAt: 1000,
  finishedAt: 2000,
  status: "prompt_sent",
  triggerType: "scheduled",
  createdSessionUrl: "/?session=s1",
  ...part,
});

/** The state of a run that keeps going. */
export const going = (part: Partial<KeepGoingResponse> = {}): KeepGoingResponse => ({
  minutes: 90,
  endAt: 5_400_000,
  state: "running",
  turns: 2,
  lines: 2,
  logs: ["1970-01-01T00:00:00Z prompt sent"],
  ...part,
});
