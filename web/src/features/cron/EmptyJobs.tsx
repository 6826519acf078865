import { Icon } from "../../ui/Icon.tsx";
import { editNew } from "./editor/editing.ts";

const USES = [
  ["While you sleep", "Every night, an agent updates the dependencies and runs the tests."],
  ["At the start of the week", "Every Monday at 9, an agent summarizes merged work."],
  ["Every 15 minutes", "A shell checks disk space or a queue."],
] as const;

/** What the page is for, where there is nothing on it yet. */
export function EmptyJobs() {
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
