/** What a person does with a job; every failure is told in a toast. */
import { signal } from "@preact/signals";
import { plural } from "../../lib/format.ts";
import { cliOf, sessionList } from "../../store/state.ts";
import { ask } from "../../ui/ask.ts";
import { failed, say } from "../../ui/toasts.ts";
import { dropJob, putJob, putRuns, runsOf } from "./book.ts";
import { deleteJob, enableJob, runJob } from "./calls.ts";
import { closesPrevious, type JobResponse, type RunResponse } from "./job.ts";
import { book, setBook } from "./state.ts";

/** Jobs with a request under way. */
export const busyJobs = signal<ReadonlySet<string>>(new Set());

function mark(id: string, busy: boolean): void {
  const next = new Set(busyJobs.peek());
  if (busy) next.add(id);
  else next.delete(id);
  busyJobs.value = next;
}

/** One request for a job at a time: a second press while it runs does nothing. */
async function attempt(job: JobResponse, title: string, action: () => Promise<void>): Promise<void> {
  if (busyJobs.peek().has(job.id)) return;
  mark(job.id, true);
  try {
    await action();
  } catch (error) {
    failed(title, error);
  } finally {
    mark(job.id, false);
  }
}

export const enable = (job: JobResponse, enabled: boolean): Promise<void> =>
  attempt(job, enabled ? "Not switched on" : "Not switched off", async () => {
    const answer = await enableJob(job.id, enabled);
    setBook((before) => putJob(before, answer.job));
  });

/** The session of the run before, where starting the job ends it at its work. */
export function endsWork(job: JobResponse, runs: readonly RunResponse[]): string | undefined {
  const id = runs.find((run) => run.sessionId !== null)?.sessionId;
  const session = id && closesPrevious(job) ? sessionList.peek().byId.get(id) : undefined;
  return session?.status === "busy" ? session.name : undefined;
}

function tellRun(job: JobResponse, run: RunResponse, others: number): void {
  if (run.status === "failed") {
    say("bad", `${job.name} failed`, run.errorMessage ?? undefined);
    return;
  }
  const label = cliOf(job.agentType)?.label ?? job.agentType;
  const text = others > 0 ? `${plural(others, `other ${label} session`)} running too.` : undefined;
  say("good", `${job.name} started`, text);
}

export async function runNow(job: JobResponse): Promise<void> {
  const working = endsWork(job, runsOf(book.peek(), job.id));
  if (working !== undefined) {
    const agreed = await ask({
      title: `Run ${job.name} now?`,
      text: `${working}, the session of its last run, still works. It is closed first.`,
      action: "Close it and run",
      danger: true,
    });
    if (agreed === undefined) return;
  }
  await attempt(job, "Not started", async () => {
    const { run, activeAgents } = await runJob(job.id);
    setBook((before) => putRuns(before, [run]));
    tellRun(job, run, activeAgents);
  });
}

export async function remove(job: JobResponse): Promise<void> {
  const agreed = await ask({
    title: `Delete ${job.name}?`,
    text: "It fires no more, and the list of its runs is gone. Sessions that it has started go on.",
    action: "Delete",
    danger: true,
  });
  if (agreed === undefined) return;
  await attempt(job, "Not deleted", async () => {
    await deleteJob(job.id);
    setBook((before) => dropJob(before, job.id));
  });
}
