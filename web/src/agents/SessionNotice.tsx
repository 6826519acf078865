/** What the session in front needs to be said, over the terminal's first rows. */
import type { Session } from "../api/types.ts";
import { openPage } from "../app/registry.ts";
import type { Item } from "../approvals/item.ts";
import { APPROVALS_PAGE } from "../approvals/page.ts";
import { approvalOf } from "../approvals/state.ts";
import { wantOf } from "../approvals/words.ts";
import { activeSession } from "../store/state.ts";
import { Icon } from "../ui/Icon.tsx";
import { useNow } from "../ui/useNow.ts";
import { limitNotice } from "./limits.ts";
import { setAutoResume } from "./state.ts";

function Limit({ session }: { session: Session }) {
  const now = useNow();
  const notice = limitNotice(session, now);
  if (!notice) return null;
  const arm = notice.button === "Continue when it ends";
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

function Asks({ item }: { item: Item }) {
  return (
    <div class="banner session-notice" data-testid="ask-notice">
      <span class="dot" data-look="attention" />
      <span class="session-notice-text">{wantOf(item)}</span>
      <button type="button" class="button small" onClick={() => (openPage.value = APPROVALS_PAGE)}>
        Answer
      </button>
    </div>
  );
}

export function SessionNotice() {
  const session = activeSession.value;
  if (!session) return null;
  const item = approvalOf(session.id);
  return (
    <div class="banner-place session-notices" role="status">
      <div class="notice-stack">
        {item && item.kind !== "idle" && <Asks item={item} />}
        {session.limitPaused && <Limit session={session} />}
      </div>
    </div>
  );
}
