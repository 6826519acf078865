/** What became of a job's runs, newest first. */
import { useEffect, useState } from "preact/hooks";
import { serviceZone } from "../../store/state.ts";
import type { JobResponse, RunResponse } from "./jobs/job.ts";
import { Moment } from "./Moment.tsx";
import { Outcome } from "./Outcome.tsx";
import { SessionLink } from "./SessionLink.tsx";
import { refreshRuns } from "./jobs/state.ts";
import { formatAgo, describeResult } from "./jobs/texts.ts";

const STEP = 8;

function Row({ run, now }: { run: RunResponse; now: number }) {
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
          <Row key={run.id} run={run} now={now} />
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
