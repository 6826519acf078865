/** The jobs that this page shows, kept in step with the service while it is open. */
import { isTimedRun, type JobResponse, type RunResponse } from "./job.ts";
import { signal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import { getErrorText } from "../../../api/errors.ts";
import { CoalescedRead } from "../../../lib/coalescedread.ts";
import { onServerEvent } from "../../../api/stream/events.ts";
import { showError } from "../../../store/toasts.ts";

export interface JobList {
  readonly jobs: readonly JobResponse[];
  /** Newest first. */
  readonly runs: readonly RunResponse[];
}

export const EMPTY: JobList = { jobs: [], runs: [] };

/** As many as the service keeps (protocol-cron). */
export const RUNS_MAX = 500;

const hasId = (value: unknown): value is { id: string } =>
  typeof value === "object" && value !== null && typeof (value as { id?: unknown }).id === "string";

const isRun = (value: unknown): value is RunResponse => {
  const run = value as Partial<RunResponse> | null;
  return hasId(value) && typeof run?.cronJobId === "string" && typeof run.startedAt === "number";
};

/** Jobs of the older way have run; they come last. */
const byName = (a: JobResponse, b: JobResponse): number =>
  Number(isTimedRun(a)) - Number(isTimedRun(b)) ||
  a.name.localeCompare(b.name, "en", { numeric: true }) ||
  a.id.localeCompare(b.id);

export function withJobs(book: JobList, jobs: readonly JobResponse[]): JobList {
  return { ...book, jobs: jobs.toSorted(byName) };
}

export function putJob(book: JobList, job: JobResponse): JobList {
  return withJobs(book, [...book.jobs.filter((other) => other.id !== job.id), job]);
}

/** Its runs go with it. */
export function dropJob(book: JobList, id: string): JobList {
  return {
    jobs: book.jobs.filter((job) => job.id !== id),
    runs: book.runs.filter((run) => run.cronJobId !== id),
  };
}

/** Each run once, as it was told last. */
export function putRuns(book: JobList, told: readonly unknown[]): JobList {
  const byId = new Map(book.runs.map((run) => [run.id, run]));
  for (const run of told) if (isRun(run)) byId.set(run.id, run);
  const runs = [...byId.values()].toSorted((a, b) => b.startedAt - a.startedAt);
  return { ...book, runs: runs.slice(0, RUNS_MAX) };
}

export interface Outcome {
  book: JobList;
  /** The list of jobs has to be read again: a run moves its job's times too. */
  stale: boolean;
}

/** What a `cron:*` event does (protocol-sse). */
export function apply(book: JobList, name: string, data: unknown): Outcome {
  if (name === "cron:jobDeleted" && hasId(data)) return { book: dropJob(book, data.id), stale: false };
  if (name === "cron:runCreated" || name === "cron:runUpdated")
    return { book: putRuns(book, [data]), stale: true };
  return { book, stale: true };
}

export const runsOf = (book: JobList, jobId: string): RunResponse[] =>
  book.runs.filter((run) => run.cronJobId === jobId);

/** The enabled job that fires next. */
export function nextJob(book: JobList): JobResponse | undefined {
  return book.jobs
    .filter((job) => job.nextRunAt !== null)
    .toSorted((a, b) => (a.nextRunAt ?? 0) - (b.nextRunAt ?? 0))[0];
}

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
