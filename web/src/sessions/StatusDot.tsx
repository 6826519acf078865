import { standing } from "../agents/standing.ts";
import { lost } from "../app/lost.ts";
import { hintOf } from "../agents/reason.ts";
import { isAway } from "../hosts/state.ts";
import type { Session } from "../api/types.ts";

/** The state as a coloured mark whose shape differs too, with its words for screen readers. */
export function StatusDot({ session }: { session: Session }) {
  const now = standing(session);
  const stale = lost.value !== undefined || isAway(session.id);
  const hint = stale ? `last known: ${hintOf(now)}` : hintOf(now);
  return (
    <span class="dot-box" data-tip={hint} title="">
      <span class="dot" data-look={now.look} data-stale={stale} data-testid="status">
        <span class="sr-only">{hint}</span>
      </span>
    </span>
  );
}
