/** What a person does with a job; every failure is told in a toast. */
import { signal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import { plural } from "../../../lib/format.ts";
import { cliOf, sessionList } from "../../../store/state.ts";
import { askQuestion } from "../../../ui/ask.ts";
import { showError, showToast } from "../../../store/toasts.ts";
import { dropJob, putJob, putRuns, runsOf, jobList, setJobList } from "./state.ts";
import { closesPrevious, type JobResponse, type RunResponse } from "./job.ts";

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
    showError(title, error);
  } finally {
    mark(job.id, false);
  }
}

export const enable = (job: JobResponse, enabled: boolean): Promise<void> =>
  attempt(job, enabled ? "Couldn't turn the job on" : "Couldn't turn the job off", async () => {
    const answer = await api.put("/api/cron/jobs/{id}/enabled", { path: { id: job.id }, body: { enabled } });
    setJobList((before) => putJob(before, answer.job));
  });

/** The session of the run before, where starting the job ends it at its work. */
export function endsWork(job: JobResponse, runs: readonly RunResponse[]): string | undefined {
  const id = runs.find((run) => run.sessionId !== null)?.sessionId;
  const session = id && closesPrevious(job) ? sessionList.peek().byId.get(id) : undefined;
  return session?.status === "busy" ? session.name : undefined;
}

function tellRun(job: JobResponse, run: RunResponse, others: number): void {
  if (run.status === "failed") {
    showToast("bad", `${job.name} failed`, run.errorMessage ?? undefined);
    return;
  }
  const label = cliOf(job.agentType)?.label ?? job.agentType;
  const text = others > 0 ? `${plural(others, `other ${label} session`)} also running.` : undefined;
  showToast("good", `${job.name} started`, text);
}

export async function runNow(job: JobResponse): Promise<void> {
  const working = endsWork(job, runsOf(jobList.peek(), job.id));
  if (working !== undefined) {
    const agreed = await askQuestion({
      title: `Run ${job.name} now?`,
      text: `${working}, the session of its last run, is still working. This closes it first.`,
      action: "Close and run",
      danger: true,
    });
    if (agreed === undefined) return;
  }
  await attempt(job, "Couldn't start the job", async () => {
    const { run, activeAgents } = await api.post("/api/cron/jobs/{id}/run", { path: { id: job.id } });
    setJobList((before) => putRuns(before, [run]));
    tellRun(job, run, activeAgents);
  });
}

export async function stopRun(job: JobResponse, run: RunResponse): Promise<void> {
  const text = "Nothing more is typed. The agent finishes its turn and its session stays open.";
  if ((await askQuestion({ title: "Stop this run?", text, action: "Stop" })) === undefined) return;
  await attempt(job, "Couldn't stop the run", async () => {
    await api.post("/api/cron/runs/{id}/stop", { path: { id: run.id } });
  });
}

export async function remove(job: JobResponse): Promise<void> {
  const agreed = await askQuestion({
    title: `Delete ${job.name}?`,
    text: "This stops the job and deletes its run history. Sessions it started keep running.",
    action: "Delete",
    danger: true,
  });
  if (agreed === undefined) return;
  await attempt(job, "Couldn't delete the job", async () => {
    await api.delete("/api/cron/jobs/{id}", { path: { id: job.id } });
    setJobList((before) => dropJob(before, job.id));
  });
}
