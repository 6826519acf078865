/** The results of a session's checks, each in a word, and the way to what they printed. */
import type { Session } from "../../api/types.ts";
import { lastRuns, openResults } from "./state.ts";
import { describeState, formatOutcome, markOf } from "./texts.ts";
import "./checks.css";

const SHOWN = 3;

export function CheckChips({ session }: { session: Session }) {
  const run = lastRuns.value.get(session.id);
  if (!run || run.checks.length === 0) return null;
  // What is red is in sight, also among many.
  const order = { bad: 0, busy: 1, none: 2, good: 3 };
  const sorted = run.checks.toSorted((one, other) => order[markOf(one.state)] - order[markOf(other.state)]);
  const more = sorted.length - SHOWN;
  const shown = sorted.slice(0, SHOWN).map((each) => ({ ...each, text: formatOutcome(each) }));
  const said = run.checks.map(({ name, state }) => `${name} ${describeState(state)}`).join(", ");
  return (
    <button
      type="button"
      class="check-chips"
      data-tip={`Checks: ${said}`}
      aria-label={`${shown.map(({ text }) => text).join(" ")}, checks of ${session.name}: ${said}`}
      onClick={() => (openResults.value = session.id)}
      data-testid="check-chips"
    >
      {shown.map(({ name, state, text }) => (
        <span key={name} data-mark={markOf(state)}>
          {text}
        </span>
      ))}
      {more > 0 && <span data-mark="none">+{more}</span>}
    </button>
  );
}
