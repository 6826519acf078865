/** Jobs and runs as a pure value, and how each event changes it. */
import type { JobResponse, RunResponse } from "./job.ts";

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

const byName = (a: JobResponse, b: JobResponse): number =>
  a.name.localeCompare(b.name, "en", { numeric: true }) || a.id.localeCompare(b.id);

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
