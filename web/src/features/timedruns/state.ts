/** The timed runs, read while their page is open. */
import type { TimedRunResponse, TimedRunBody } from "../../api/types.ts";
import { api } from "../../api/client.ts";
import { resource } from "../../store/resource.ts";
import { showError } from "../../store/toasts.ts";
import { askQuestion } from "../../ui/ask.ts";

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

export const runs = resource(async () => (await api.get("/api/scheduled")).runs, [], { every: 5_000 });

/** @throws ApiError as the service refuses it. */
export async function begin(body: TimedRunBody): Promise<void> {
  await api.post("/api/scheduled", { body });
  await runs.refresh();
}

export async function stop(run: TimedRunResponse): Promise<void> {
  const text = "Nothing more is typed. The agent finishes its turn and its session stays open.";
  if ((await askQuestion({ title: "Stop this run?", text, action: "Stop" })) === undefined) return;
  try {
    await api.delete("/api/scheduled/{id}", { path: { id: run.id } });
  } catch (error) {
    showError("Couldn't stop the run", error);
  }
  await runs.refresh();
}
