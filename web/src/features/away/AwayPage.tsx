/** What each session did since it was looked at, and the way to it, its changes and its checks. */
import type { AwaySessionResponse } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import { plural } from "../../lib/format.ts";
import { sessionList } from "../../store/state.ts";
import { Button } from "../../ui/Button.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { select } from "../../ui/pages/select.ts";
import { useNow } from "../../ui/useNow.ts";
import { CheckChips } from "../checks/CheckChips.tsx";
import { openReview } from "../review/open.ts";
import { StatusDot } from "../sessions/StatusDot.tsx";
import "./away.css";
import { describeAway, sumAway } from "./texts.ts";
import { useAway } from "./useAway.ts";

function Row({ each, now }: { each: AwaySessionResponse; now: number }) {
  const session = sessionList.value.byId.get(each.id);
  return (
    <li class="record" data-testid="away-row">
      <span class="record-mark">{session && <StatusDot session={session} />}</span>
      <div class="record-main">
        <button type="button" class="away-open" onClick={() => select(each.id)} data-testid="away-open">
          {each.name}
        </button>
        <span>{describeAway(each)}</span>
        {session && each.checks !== undefined && <CheckChips session={session} />}
        <small>since {formatAgo(each.since, now)}</small>
      </div>
      {each.files + each.commits > 0 && (
        <Button
          small
          label={`Review the changes of ${each.name}`}
          onClick={() => openReview(each.id)}
          testid="away-review"
        >
          Review
        </Button>
      )}
    </li>
  );
}

export function AwayPage() {
  const { away, problem, markSeen } = useAway();
  const now = useNow();
  const listed = away?.sessions ?? [];
  const left = (away?.total ?? 0) - listed.length;
  return (
    <ListPage
      testid="away-page"
      summary={
        listed.length > 0 &&
        `${plural(listed.length, "session")}: ${sumAway(listed)}${left > 0 ? ` · ${left} more with fewer turns` : ""}`
      }
      counted
      actions={
        listed.length > 0 && (
          <Button small onClick={() => void markSeen()} testid="away-page-seen">
            Mark all as seen
          </Button>
        )
      }
      problem={problem}
      busy={!away && !problem}
      items={away?.sessions}
      empty="Nothing happened since you looked at your sessions."
      row={(each) => <Row key={each.id} each={each} now={now} />}
    />
  );
}
