import { serviceZone } from "../../store/state.ts";
import { runsOf } from "./jobs/joblist.ts";
import type { JobResponse, RunResponse } from "./jobs/job.ts";
import { Outcome } from "./Outcome.tsx";
import { SessionLink } from "./SessionLink.tsx";
import { jobList } from "./jobs/state.ts";
import { formatAgo, formatMoment, describeResult } from "./jobs/texts.ts";

/** The run that the job itself remembers, where its record is no longer kept. */
function remembered(job: JobResponse): RunResponse | undefined {
  if (job.lastRunAt === null || job.lastStatus === null) return undefined;
  return {
    id: job.lastDueKey ?? job.id,
    cronJobId: job.id,
    sessionId: null,
    sessionName: null,
    startedAt: job.lastRunAt,
    finishedAt: job.lastRunAt,
    status: job.lastStatus,
    triggerType: "scheduled",
    createdSessionUrl: null,
  };
}

export function LastRun({ job, now }: { job: JobResponse; now: number }) {
  const run = runsOf(jobList.value, job.id)[0] ?? remembered(job);
  if (!run) return <span class="dim">not run yet</span>;
  return (
    <>
      <Outcome result={describeResult(run, now)} />
      <time
        class="dim"
        dateTime={new Date(run.startedAt).toISOString()}
        title={formatMoment(run.startedAt, now, serviceZone.value)}
      >
        {formatAgo(run.startedAt, now)}
      </time>
      <SessionLink run={run} brief />
    </>
  );
}
