import { Icon } from "../ui/Icon.tsx";
import { editNew } from "./editor/editing.ts";

const USES = [
  ["While you sleep", "Every night an agent updates the dependencies and runs the tests."],
  ["When the week begins", "Mondays at nine one sums up what was merged."],
  ["Every quarter of an hour", "A shell looks after a disk, a queue or a site."],
] as const;

/** What the page is for, where there is nothing on it yet. */
export function NoJobs() {
  return (
    <section class="cron-none" data-testid="cron-none">
      <span class="cron-none-mark">
        <Icon name="clock" size={26} />
      </span>
      <h3>No scheduled jobs yet</h3>
      <p>
        A job starts a session by itself, at the times you choose, and types its prompt. You find the session
        here and among your tabs.
      </p>
      <button type="button" class="button primary" onClick={editNew} data-testid="cron-new">
        <Icon name="plus" size={16} /> New job
      </button>
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
