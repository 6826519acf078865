/** The timed runs, read while their page is open. */
import { api } from "../../api/client.ts";
import type { TimedRunBody, TimedRunResponse } from "../../api/types.ts";
import { resource } from "../../store/resource.ts";
import { showError } from "../../store/toasts.ts";
import { askQuestion } from "../../ui/ask.ts";

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
