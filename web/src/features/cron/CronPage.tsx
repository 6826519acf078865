/** Jobs that start sessions by themselves: the list, and the way to the editor. */
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { editNew, editing } from "./editor/editing.ts";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { serviceZone } from "../../store/state.ts";
import { useNow } from "../../ui/useNow.ts";
import { nextJob, jobList, followCron, isLoaded, readAll, loadProblem } from "./jobs/state.ts";
import { Editor } from "./editor/Editor.tsx";
import { JobCard } from "./JobCard.tsx";
import { describeNextRun, formatTime, describeZone } from "./jobs/texts.ts";
import "./cron.css";

const USES = [
  ["While you sleep", "Every night, an agent updates the dependencies and runs the tests."],
  ["At the start of the week", "Every Monday at 9, an agent summarizes merged work."],
  ["Every 15 minutes", "A shell checks disk space or a queue."],
] as const;

/** What the page is for, where there is nothing on it yet. */
function EmptyJobs() {
  return (
    <section class="cron-none" data-testid="cron-none">
      <span class="cron-none-mark">
        <Icon name="clock" size={26} />
      </span>
      <h3>No scheduled jobs yet</h3>
      <p>
        A job starts a session at the times you choose and sends its prompt. You find the session here and in
        your session list.
      </p>
      <Button primary onClick={editNew} testid="cron-new">
        <Icon name="plus" size={16} /> New job
      </Button>
      <ul class="tips">
        {USES.map(([title, text]) => (
          <li key={title}>
            <strong>{title}</strong>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

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
      <Button onClick={readAll}>Try again</Button>
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
