/** What became of a job's runs, newest first. */
import { serviceZone, sessionList } from "../../store/state.ts";
import { runsOf, jobList, refreshRuns } from "./jobs/state.ts";
import type { JobResponse, RunResponse } from "./jobs/job.ts";
import {
  formatAgo,
  formatMoment,
  describeResult,
  formatShortMoment,
  formatOwnTime,
  type Result,
  type Tone,
} from "./jobs/texts.ts";
import { busyJobs, stopRun } from "./jobs/actions.ts";
import { keepsGoing } from "./jobs/keepgoing.ts";
import { Button } from "../../ui/Button.tsx";
import { browserZone } from "../../lib/zone.ts";
import { offsetAt } from "../../lib/zonetime.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import { openPage } from "../../ui/pages/registry.ts";
import { writeRoute } from "../../ui/pages/route.ts";
import { select } from "../../ui/pages/select.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import { useEffect, useState } from "preact/hooks";

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
      <StopButton job={job} run={run} />
    </>
  );
}

interface Props {
  at: number;
  now: number;
  zone: string;
  /** Words before the moment: how far it is. */
  before?: string;
  /** Show this browser's time too, where its clock is another one. */
  both?: boolean;
}

/** A moment of the service's clock. */
export function Moment({ at, now, zone, before, both = false }: Props) {
  const own = browserZone();
  const apart = both && offsetAt(at, own) !== offsetAt(at, zone);
  return (
    <time dateTime={new Date(at).toISOString()} title={`${formatMoment(at, now, zone)} (${zone})`}>
      {before && `${before}, `}
      {formatShortMoment(at, now, zone)}
      {apart && <small class="own-time"> {formatOwnTime(at, zone, own)}</small>}
    </time>
  );
}

const MARKS: Record<Exclude<Tone, "busy">, IconName> = {
  good: "check",
  bad: "alert",
  warn: "alert",
  plain: "skip",
};

/** How a run went: a mark, its word, and why. */
function Outcome({ result }: { result: Result }) {
  const { tone, word, reason } = result;
  return (
    <span class="outcome" data-tone={tone}>
      {tone === "busy" ? <span class="spinner" /> : <Icon name={MARKS[tone]} size={14} />}
      <span>
        {word}
        {reason && <span class="outcome-reason">: {reason}</span>}
      </span>
    </span>
  );
}

function visit(event: MouseEvent, id: string): void {
  // Another tab or window was asked for.
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  select(id);
  openPage.value = undefined;
}

/** The way to the session that a run made, and what that does now. */
function SessionLink({ run, brief = false }: { run: RunResponse; brief?: boolean }) {
  const id = run.sessionId;
  if (id === null) return null;
  const session = sessionList.value.byId.get(id);
  if (!session) return brief ? null : <span class="dim">{run.sessionName ?? "session"} (closed)</span>;
  return (
    <span class="run-session">
      <StatusDot session={session} />
      <a
        href={writeRoute({ login: false, session: id })}
        onClick={(event) => visit(event, id)}
        data-testid="run-session"
      >
        {session.name}
      </a>
      {!brief && <small>{getCurrentStatus(session).word}</small>}
    </span>
  );
}

const STEP = 8;

function StopButton({ job, run }: { job: JobResponse; run: RunResponse }) {
  if (!keepsGoing(run)) return null;
  return (
    <Button
      small
      disabled={busyJobs.value.has(job.id)}
      onClick={() => void stopRun(job, run)}
      testid="run-stop"
    >
      Stop
    </Button>
  );
}

function Row({ job, run, now }: { job: JobResponse; run: RunResponse; now: number }) {
  return (
    <li class="run" data-testid="run" data-status={run.status}>
      <span class="run-when">
        <Moment at={run.startedAt} now={now} zone={serviceZone.value} />
        <small>
          {formatAgo(run.startedAt, now)}
          {run.triggerType === "manual_run_now" && " · manual"}
        </small>
      </span>
      <span class="run-what">
        <Outcome result={describeResult(run, now)} />
        <SessionLink run={run} />
        <StopButton job={job} run={run} />
      </span>
    </li>
  );
}

export function Runs({ job, runs, now }: { job: JobResponse; runs: readonly RunResponse[]; now: number }) {
  const [shown, setShown] = useState(STEP);
  useEffect(() => void refreshRuns(job.id), [job.id]);
  if (runs.length === 0) return <p class="runs-none dim">No runs yet.</p>;
  return (
    <div class="runs">
      <ol aria-label={`Runs of ${job.name}`}>
        {runs.slice(0, shown).map((run) => (
          <Row key={run.id} job={job} run={run} now={now} />
        ))}
      </ol>
      {runs.length > shown && (
        <button
          type="button"
          class="button small quiet"
          onClick={() => setShown(shown + 5 * STEP)}
          data-testid="runs-more"
        >
          Show older
        </button>
      )}
    </div>
  );
}
