/** What a session changed, in two figures, and the way to the review of it. */
import type { Session } from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { counts, openReview } from "./open.ts";
import "./chip.css";

export function ReviewChip({ session }: { session: Session }) {
  const told = counts.value.get(session.id);
  if (!told || (told.totals.files === 0 && told.comments.open === 0)) return null;
  const { totals, comments } = told;
  const parts = [
    plural(totals.files, "file"),
    `${totals.added} added`,
    `${totals.removed} removed`,
    comments.open > 0 && `${plural(comments.open, "comment")} not sent`,
  ].filter((part) => part !== false);
  return (
    <button
      type="button"
      class="review-chip"
      data-tip={`Review: ${parts.join(", ")}`}
      aria-label={`Review ${session.name}: ${parts.join(", ")}`}
      onClick={() => openReview(session.id)}
      data-testid="review-chip"
    >
      <span data-kind="added">+{totals.added.toLocaleString("en")}</span>
      <span data-kind="removed">−{totals.removed.toLocaleString("en")}</span>
      {comments.open > 0 && <span class="review-chip-said">{comments.open}</span>}
    </button>
  );
}
