/** The jobs that this page shows, kept in step with the service while it is open. */
import { signal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import { getErrorText } from "../../../api/errors.ts";
import { CoalescedRead } from "../../../lib/coalescedread.ts";
import { onServerEvent } from "../../../api/stream/events.ts";
import { showError } from "../../../store/toasts.ts";
import { apply, type JobList, EMPTY, putRuns, withJobs } from "./joblist.ts";
import type { JobResponse, RunResponse } from "./job.ts";

export const jobList = signal<JobList>(EMPTY);

/** Until the first answer the page says neither "none" nor what it knew when it was last open. */
export const isLoaded = signal(false);

/** Why the list could not be read; empty: it could. */
export const loadProblem = signal("");

export function setJobList(change: (before: JobList) => JobList): void {
  jobList.value = change(jobList.peek());
}

const jobs = new CoalescedRead(async (outdated) => {
  try {
    const found: JobResponse[] = await api.get("/api/cron/jobs");
    if (outdated()) return;
    setJobList((before) => withJobs(before, found));
    isLoaded.value = true;
    loadProblem.value = "";
  } catch (error) {
    loadProblem.value = `Couldn't load the jobs: ${getErrorText(error)}`;
  }
});

async function readRuns(list: () => Promise<RunResponse[]>): Promise<void> {
  try {
    const runs = await list();
    setJobList((before) => putRuns(before, runs));
  } catch (error) {
    showError("Couldn't load the runs", error);
  }
}

export const refreshRuns = (jobId: string): Promise<void> =>
  readRuns(() => api.get("/api/cron/jobs/{id}/runs", { path: { id: jobId } }));

export function readAll(): void {
  void jobs.now();
  void readRuns(() => api.get("/api/cron/runs"));
}

function heard(data: unknown, name: string): void {
  const outcome = apply(jobList.peek(), name, data);
  jobList.value = outcome.book;
  if (outcome.stale) void jobs.now();
  else jobs.markOutdated();
}

/** @returns a function that ends the following. */
export function followCron(): () => void {
  jobList.value = EMPTY;
  isLoaded.value = false;
  loadProblem.value = "";
  const ends = [onServerEvent("cron:", heard), onServerEvent("init", readAll)];
  readAll();
  return () => {
    for (const end of ends) end();
  };
}
