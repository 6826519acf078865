/** One job of the list. */
import { Button } from "../../ui/Button.tsx";
import { useId, useState } from "preact/hooks";
import { plural, shortenPath } from "../../lib/format.ts";
import { cliOf, serviceZone } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { menuUnder } from "../../ui/menu.ts";
import { busyJobs, enable, remove, runNow } from "./jobs/actions.ts";
import { runsOf, jobList } from "./jobs/state.ts";
import { edit, editAgain, editCopy } from "./editor/editing.ts";
import { isTimedRun, type JobResponse } from "./jobs/job.ts";
import { formatSpan } from "./jobs/keepgoing.ts";
import { LastRun, Moment, Runs } from "./Runs.tsx";
import { describeNextRun, describeSentence } from "./jobs/texts.ts";

function Head({ job, id }: { job: JobResponse; id: string }) {
  const cli = cliOf(job.agentType);
  return (
    <header class="job-head">
      <span class="job-who">
        <h3 id={id} class="job-name">
          {job.name}
        </h3>
        <small class="job-sub">
          <span class="badge">{cli?.shortBadge ?? job.agentType}</span>
          <span title={job.workingDir}>{shortenPath(job.workingDir)}</span>
          {job.owner && <span>· {job.owner}</span>}
        </small>
      </span>
      {!isTimedRun(job) && <EnabledSwitch job={job} />}
    </header>
  );
}

function EnabledSwitch({ job }: { job: JobResponse }) {
  return (
    <input
      type="checkbox"
      role="switch"
      class="switch"
      checked={job.enabled}
      disabled={busyJobs.value.has(job.id)}
      aria-label={`${job.name} is on`}
      title={job.enabled ? "Turn off" : "Turn on"}
      onChange={(event) => {
        // The service's answer moves it.
        event.currentTarget.checked = job.enabled;
        if (job.completedOnce && !job.enabled) editAgain(job);
        else void enable(job, !job.enabled);
      }}
      data-testid="job-enabled"
    />
  );
}

function Facts({ job, now }: { job: JobResponse; now: number }) {
  const zone = serviceZone.value;
  const next = describeNextRun(job, now, zone);
  return (
    <dl class="job-facts">
      <div>
        <dt>Runs</dt>
        <dd data-testid="job-schedule">
          {describeSentence(job, now, zone)}
          {job.scheduleType === "cron" && <code>{job.cronExpression}</code>}
        </dd>
      </div>
      <div>
        <dt>Next</dt>
        <dd data-testid="job-next">
          {job.nextRunAt !== null && next.when ? (
            <Moment at={job.nextRunAt} now={now} zone={zone} before={next.text} both />
          ) : (
            <span class="dim">{next.text}</span>
          )}
        </dd>
      </div>
      {job.keepGoingMinutes !== undefined && (
        <div>
          <dt>Keeps going</dt>
          <dd data-testid="job-keep-going">for {formatSpan(job.keepGoingMinutes)}</dd>
        </div>
      )}
      <div>
        <dt>Last</dt>
        <dd data-testid="job-last">
          <LastRun job={job} now={now} />
        </dd>
      </div>
    </dl>
  );
}

function moreOf(job: JobResponse, anchor: Element): void {
  const items = [
    { label: "Duplicate", icon: "copy" as const, act: () => editCopy(job) },
    { label: "Delete", icon: "close" as const, danger: true, group: true, act: () => void remove(job) },
  ];
  menuUnder(`More actions for ${job.name}`, items, anchor);
}

interface FootProps {
  job: JobResponse;
  open: boolean;
  count: number;
  onToggle: () => void;
}

function Foot({ job, open, count, onToggle }: FootProps) {
  return (
    <footer class="job-foot">
      <Button small disabled={busyJobs.value.has(job.id)} onClick={() => void runNow(job)} testid="job-run">
        <Icon name="play" size={14} /> Run now
      </Button>
      {!isTimedRun(job) && (
        <Button small onClick={() => edit(job)} testid="job-edit">
          Edit
        </Button>
      )}
      <span class="spring" />
      <button
        type="button"
        class="button small quiet"
        aria-expanded={open}
        onClick={onToggle}
        data-testid="job-runs"
      >
        {count > 0 ? plural(count, "run") : "Runs"}
        <Icon name={open ? "up" : "down"} size={14} />
      </button>
      <IconButton
        icon="more"
        label={`More actions for ${job.name}`}
        testid="job-more"
        onClick={(event) => moreOf(job, event.currentTarget as Element)}
      />
    </footer>
  );
}

export function JobCard({ job, now }: { job: JobResponse; now: number }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const runs = runsOf(jobList.value, job.id);
  return (
    <article class="job" data-on={job.enabled} aria-labelledby={id} data-testid="job" data-job={job.id}>
      <Head job={job} id={id} />
      <Facts job={job} now={now} />
      <Foot job={job} open={open} count={runs.length} onToggle={() => setOpen(!open)} />
      {open && <Runs job={job} runs={runs} now={now} />}
    </article>
  );
}
