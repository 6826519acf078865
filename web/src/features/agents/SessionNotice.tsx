/** What needs to be said of all sessions or of the one in front, over the terminal's first rows. */
import { signal } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { besidePage } from "../../ui/pages/panel.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { APPROVALS_PAGE, openInbox } from "../approvals/openinbox.ts";
import { approvalOf, approvals } from "../approvals/state.ts";
import { describeRequest } from "../approvals/texts.ts";
import { gridOn } from "../grid/state.ts";
import { UnreachableNoticeSlot } from "../hosts/slots.tsx";
import { RestoreBanner } from "../restore/RestoreBanner.tsx";
import { activeSession } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { useNow } from "../../ui/useNow.ts";
import { describeLimit } from "./limits.ts";
import { setAutoResume } from "./state.ts";

function Limit({ session }: { session: Session }) {
  const now = useNow();
  const notice = describeLimit(session, now);
  if (!notice) return null;
  const arm = notice.button === "Continue after reset";
  return (
    <div class="banner session-notice" data-testid="limit-notice">
      <Icon name="clock" size={16} />
      <span>{notice.text}</span>
      <button type="button" class="button small" onClick={() => void setAutoResume(session, arm)}>
        {notice.button}
      </button>
    </div>
  );
}

/** Items whose notice the person put away; the bell and the inbox keep them. */
const putAway = signal<ReadonlySet<string>>(new Set());

function hide(item: ApprovalItemResponse): void {
  const waiting = new Set(approvals.value.map(({ id }) => id));
  putAway.value = new Set([...putAway.value, item.id].filter((id) => waiting.has(id)));
}

function Asks({ item }: { item: ApprovalItemResponse }) {
  if (putAway.value.has(item.id)) return null;
  return (
    <div class="banner session-notice" data-testid="ask-notice">
      <span class="dot" data-state="attention" />
      <span class="session-notice-text">{describeRequest(item)}</span>
      <button type="button" class="button small" onClick={openInbox}>
        Answer
      </button>
      <IconButton
        icon="close"
        label="Dismiss this notice"
        testid="ask-notice-close"
        onClick={() => hide(item)}
      />
    </div>
  );
}

/** Cells say it in their heads, which the notice would cover, and the inbox has the answers themselves. */
const saidElsewhere = (): boolean => gridOn.value || besidePage.value?.id === APPROVALS_PAGE;

export function SessionNotice() {
  const session = activeSession.value;
  const item = session && approvalOf(session.id);
  return (
    <div class="banner-place session-notices" role="status">
      <div class="notice-stack">
        <RestoreBanner />
        {session && <UnreachableNoticeSlot session={session} />}
        {item && item.kind !== "idle" && !saidElsewhere() && <Asks item={item} />}
        {session?.limitPaused && <Limit session={session} />}
      </div>
    </div>
  );
}
