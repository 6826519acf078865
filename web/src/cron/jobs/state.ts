/** The jobs that this page shows, kept in step with the service while it is open. */
import { signal } from "@preact/signals";
import { textOf } from "../../api/errors.ts";
import { Reread } from "../../lib/reread.ts";
import { onServerEvent } from "../../stream/events.ts";
import { failed } from "../../ui/toasts.ts";
import { apply, type Book, EMPTY, putRuns, withJobs } from "./book.ts";
import { listJobs, listRuns, runsOfJob } from "./calls.ts";
import type { JobResponse, RunResponse } from "./job.ts";

export const book = signal<Book>(EMPTY);

/** Until the first answer the page says neither "none" nor what it knew when it was last open. */
export const known = signal(false);

/** Why the list could not be read; empty: it could. */
export const trouble = signal("");

export function setBook(change: (before: Book) => Book): void {
  book.value = change(book.peek());
}

const jobs = new Reread(async (outdated) => {
  try {
    const found: JobResponse[] = await listJobs();
    if (outdated()) return;
    setBook((before) => withJobs(before, found));
    known.value = true;
    trouble.value = "";
  } catch (error) {
    trouble.value = `The jobs could not be read: ${textOf(error)}`;
  }
});

async function readRuns(list: () => Promise<RunResponse[]>): Promise<void> {
  try {
    const runs = await list();
    setBook((before) => putRuns(before, runs));
  } catch (error) {
    failed("The list of runs could not be read", error);
  }
}

export const refreshRuns = (jobId: string): Promise<void> => readRuns(() => runsOfJob(jobId));

export function readAll(): void {
  void jobs.now();
  void readRuns(listRuns);
}

function heard(data: unknown, name: string): void {
  const outcome = apply(book.peek(), name, data);
  book.value = outcome.book;
  if (outcome.stale) void jobs.now();
  else jobs.told();
}

/** @returns a function that ends the following. */
export function followCron(): () => void {
  book.value = EMPTY;
  known.value = false;
  trouble.value = "";
  const ends = [onServerEvent("cron:", heard), onServerEvent("init", readAll)];
  readAll();
  return () => {
    for (const end of ends) end();
  };
}
