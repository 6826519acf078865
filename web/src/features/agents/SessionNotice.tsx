/** What needs to be said of all sessions or of the one in front, above the terminal. */
import type { Session } from "../../api/types.ts";
import { UnreachableNoticeSlot } from "../hosts/slots.tsx";
import { RestoreHost } from "../restore/RestoreHost.tsx";
import { isAgent } from "../prompt/isagent.ts";
import { prefs } from "../../store/prefs.ts";
import { activeSession } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/useNow.ts";
import { describeLimit } from "./limits.ts";
import { AskNotice, findUntoldItem } from "./AskNotice.tsx";
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

/** Where there is no prompt box, what the agent asks has a row of its own. */
const hasPromptBox = (session: Session): boolean => prefs.value.promptBox && isAgent(session);

export function SessionNotice() {
  const session = activeSession.value;
  const item = session && !hasPromptBox(session) ? findUntoldItem(session) : undefined;
  return (
    <div class="session-notices" role="status">
      <RestoreHost />
      {session && <UnreachableNoticeSlot session={session} />}
      {item && <AskNotice item={item} />}
      {session?.limitPaused && <Limit session={session} />}
    </div>
  );
}
