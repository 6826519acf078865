/** The way to the inbox, with how many wait. */
import { plural } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { isUrgent } from "./inbox.ts";
import { openInbox } from "./openinbox.ts";
import { approvals, inboxEnabled } from "./state.ts";

export function Bell() {
  if (!inboxEnabled.value) return null;
  const count = approvals.value.length;
  const urgent = approvals.value.some(isUrgent);
  const label =
    count === 0
      ? "Inbox: nothing to answer"
      : `Inbox: ${plural(count, "session")} ${count === 1 ? "needs" : "need"} you`;
  return (
    <button
      type="button"
      class="icon-button bell"
      data-urgent={urgent}
      aria-label={label}
      title={`${label}  Alt+Shift+A`}
      onClick={openInbox}
      data-testid="approvals-bell"
    >
      <Icon name="bell" />
      {count > 0 && (
        <span class="bell-count" data-testid="approvals-count">
          {count}
        </span>
      )}
    </button>
  );
}
