/** Jobs that start sessions by themselves: the list, and the way to the editor. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { serviceZone } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import "./cron.css";
import { nextJob } from "./jobs/joblist.ts";
import { Editor } from "./editor/Editor.tsx";
import { editing, editNew } from "./editor/editing.ts";
import { JobCard } from "./JobCard.tsx";
import { EmptyJobs } from "./EmptyJobs.tsx";
import { jobList, followCron, isLoaded, readAll, loadProblem } from "./jobs/state.ts";
import { describeNextRun, formatTime, describeZone } from "./jobs/texts.ts";

function ZoneLine({ now }: { now: number }) {
  const zone = serviceZone.value;
  const { name, apart } = describeZone(now, zone);
  return (
    <p class="cron-zone" data-testid="cron-zone">
      <Icon name="clock" size={15} />
      <span>
        Server time: <b>{formatTime(now, zone)}</b>, {name}
        {apart && <>, {apart}</>}
      </span>
    </p>
  );
}

/** What a screen reader hears when the list changes. */
function Summary({ now }: { now: number }) {
  const next = nextJob(jobList.value);
  const ahead = next && describeNextRun(next, now, serviceZone.value);
  const text = `${plural(jobList.value.jobs.length, "scheduled job")}.`;
  return (
    <p class="sr-only" role="status">
      {next ? `${text} Next: ${next.name}, ${ahead?.when}` : text}
    </p>
  );
}

/** What had the focus may be gone with a deleted card or a closed editor: the button gets it. */
function useFocus(count: number) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body) button.current?.focus();
  }, [count]);
  return button;
}

function Jobs({ now }: { now: number }) {
  const { jobs } = jobList.value;
  const button = useFocus(jobs.length);
  if (jobs.length === 0) return <EmptyJobs />;
  return (
    <>
      <div class="cron-head">
        <ZoneLine now={now} />
        <button ref={button} type="button" class="button primary" onClick={editNew} data-testid="cron-new">
          <Icon name="plus" size={16} /> New job
        </button>
      </div>
      <Summary now={now} />
      <ul class="jobs">
        {jobs.map((job) => (
          <li key={job.id}>
            <JobCard job={job} now={now} />
          </li>
        ))}
      </ul>
    </>
  );
}

function LoadProblem({ text }: { text: string }) {
  return (
    <div class="cron-trouble">
      <p class="problem" role="alert" data-testid="cron-trouble">
        <Icon name="alert" /> {text}
      </p>
      <button type="button" class="button" onClick={readAll}>
        Try again
      </button>
    </div>
  );
}

function Body({ now }: { now: number }) {
  if (editing.value) return <Editor key={editing.value} start={editing.value} />;
  if (loadProblem.value !== "") return <LoadProblem text={loadProblem.value} />;
  return isLoaded.value ? <Jobs now={now} /> : <p class="dim">Loading…</p>;
}

export function CronPage() {
  const now = useNow();
  useEffect(followCron, []);
  return (
    <div class="cron" data-testid="cron">
      <Body now={now} />
    </div>
  );
}
