/** The way to the inbox, with how many are blocked and how many are done. */
import { plural } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { openInbox } from "./openinbox.ts";
import { finishedSessions, inboxEnabled, sessionsNeedingPerson } from "./state.ts";

function describeCounts(blocked: number, done: number): string {
  const parts = [
    blocked > 0 && `${plural(blocked, "session")} ${blocked === 1 ? "needs" : "need"} you`,
    done > 0 && `${done} done`,
  ].filter(Boolean);
  return parts.length > 0 ? `Inbox: ${parts.join(", ")}` : "Inbox: nothing to answer";
}

export function Bell() {
  if (!inboxEnabled.value) return null;
  const [blocked, done] = [sessionsNeedingPerson.value.size, finishedSessions.value.size];
  const label = describeCounts(blocked, done);
  return (
    <button
      type="button"
      class="icon-button bell"
      data-urgent={blocked > 0}
      title={`${label}  Alt+Shift+A`}
      onClick={openInbox}
      data-testid="approvals-bell"
    >
      <Icon name="bell" />
      <span class="sr-only">{label}</span>
      {blocked > 0 && (
        <span class="bell-count" aria-hidden="true" data-testid="approvals-count">
          {blocked}
        </span>
      )}
      {done > 0 && (
        <span class="bell-count done" aria-hidden="true" data-testid="approvals-done">
          {done}
        </span>
      )}
    </button>
  );
}
