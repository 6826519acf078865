/** The timed runs, read while their page is open. */
import { signal } from "@preact/signals";
import { request } from "../../api/client.ts";
import { getErrorText } from "../../api/errors.ts";
import type { TimedRunEnvelope, TimedRunResponse, TimedRunBody, TimedRunsResponse } from "../../api/types.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { askQuestion } from "../../ui/ask.ts";
import { showError } from "../../store/toasts.ts";

const PATH = "api/scheduled";
const AGAIN_MS = 5_000;

export const runs = signal<readonly TimedRunResponse[] | undefined>(undefined);
export const trouble = signal("");

const reads = new CoalescedRead(async (outdated) => {
  try {
    const found = await request<TimedRunsResponse>("GET", PATH);
    if (!outdated()) runs.value = found.runs;
    trouble.value = "";
  } catch (error) {
    trouble.value = getErrorText(error);
  }
});

/** @returns a function that stops reading. */
export function openRuns(): () => void {
  void reads.now();
  const timer = setInterval(() => document.hidden || void reads.now(), AGAIN_MS);
  return () => clearInterval(timer);
}

/** @throws ApiError as the service refuses it. */
export async function begin(body: TimedRunBody): Promise<void> {
  await request<TimedRunEnvelope>("POST", PATH, { body });
  await reads.now();
}

export async function stop(run: TimedRunResponse): Promise<void> {
  const text = "Nothing more is typed. The agent finishes its turn and its session stays open.";
  if ((await askQuestion({ title: "Stop this run?", text, action: "Stop" })) === undefined) return;
  try {
    await request<unknown>("DELETE", `${PATH}/${encodeURIComponent(run.id)}`);
  } catch (error) {
    showError("Couldn't stop the run", error);
  }
  await reads.now();
}
