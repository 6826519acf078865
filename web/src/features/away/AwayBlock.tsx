/** What the sessions did since they were looked at, at the top of the fleet. */
import type { AwaySessionResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import { Button } from "../../ui/Button.tsx";
import { AWAY_PAGE, openPage } from "../../ui/pages/registry.ts";
import { select } from "../../ui/pages/select.ts";
import { Problem } from "../../ui/Problem.tsx";
import { useNow } from "../../ui/useNow.ts";
import "./away.css";
import { describeAway, sumAway } from "./texts.ts";
import { useAway } from "./useAway.ts";

/** So many stand in the block; the others are on the page. */
const FEW = 3;

function Line({ each, now }: { each: AwaySessionResponse; now: number }) {
  return (
    <li>
      <button type="button" class="away-session" onClick={() => select(each.id)} data-testid="away-session">
        <span class="away-name">{each.name}</span>
        <span>{describeAway(each)}</span>
        <span class="dim">since {formatAgo(each.since, now)}</span>
      </button>
    </li>
  );
}

export function AwayBlock() {
  const { away, problem, markSeen } = useAway();
  const now = useNow();
  if (!away && problem) return <Problem text={problem} testid="away-problem" />;
  if (!away) return <div class="away-waiting" hidden />;
  if (away.sessions.length === 0) return null;
  return (
    <section class="away" aria-labelledby="away-head" data-testid="away">
      <h3 id="away-head">While you were away</h3>
      <p data-testid="away-sum">
        {plural(away.total, "session")}: {sumAway(away.sessions)}
      </p>
      <ul>
        {away.sessions.slice(0, FEW).map((each) => (
          <Line key={each.id} each={each} now={now} />
        ))}
      </ul>
      <div class="away-foot">
        <Button small onClick={() => (openPage.value = AWAY_PAGE)} testid="away-all">
          See all
        </Button>
        <Button small onClick={() => void markSeen()} testid="away-seen">
          Mark all as seen
        </Button>
      </div>
    </section>
  );
}
