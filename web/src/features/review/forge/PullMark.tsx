/** The pull request of a session's branch on its row: its number, and whether its checks are well. */
import type { Session } from "../../../api/types.ts";
import { openReview } from "../open.ts";
import { chooseMark, describeMark, marks } from "./marks.ts";
import "../chip.css";
import "./mark.css";

/** In the sidebar the row itself is the button. */
export function PullMark({ session }: { session: Session }) {
  const found = chooseMark(marks.value.get(session.id));
  if (!found) return null;
  const said = describeMark(found);
  return (
    <span
      class="pull-mark"
      data-state={found.state}
      data-checks={found.checks}
      data-tip={said}
      data-testid="pull-mark"
    >
      <span aria-hidden="true">#{found.number}</span>
      <span class="sr-only">{said}</span>
    </span>
  );
}

/** On a card of the fleet it leads to the review. */
export function PullChip({ session }: { session: Session }) {
  const found = chooseMark(marks.value.get(session.id));
  if (!found) return null;
  const said = describeMark(found);
  return (
    <button
      type="button"
      class="review-chip"
      data-tip={said}
      aria-label={`${session.name}: ${said}`}
      onClick={() => openReview(session.id)}
      data-testid="pull-chip"
    >
      <span class="pull-mark" data-state={found.state} data-checks={found.checks}>
        #{found.number}
      </span>
    </button>
  );
}
