/** What the agent in front asks, in the place of the prompt that it cannot take meanwhile. */
import type { Session } from "../../api/types.ts";
import { besidePage } from "../../ui/pages/panel.ts";
import { isBlocking } from "../approvals/inbox.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { APPROVALS_PAGE, openInbox } from "../approvals/openinbox.ts";
import { approvalOf } from "../approvals/state.ts";
import { describeRequest } from "../approvals/texts.ts";
import { gridOn } from "../grid/state.ts";

/** @returns the question, unless the heads of cells or the inbox beside the terminal say it. */
export function findUntoldItem(session: Session): ApprovalItemResponse | undefined {
  if (gridOn.value || besidePage.value?.id === APPROVALS_PAGE) return undefined;
  const item = approvalOf(session.id);
  return item && isBlocking(item) ? item : undefined;
}

export function AskNotice({ item }: { item: ApprovalItemResponse }) {
  return (
    <div class="ask-notice" role="status" data-testid="ask-notice">
      <span class="dot" data-state="attention" />
      <span class="ask-notice-text">{describeRequest(item)}</span>
      <button type="button" class="button small" onClick={openInbox}>
        Answer
      </button>
    </div>
  );
}
