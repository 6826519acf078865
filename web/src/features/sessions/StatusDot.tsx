import { getCurrentStatus } from "../agents/currentstatus.ts";
import { connectionNotice } from "../../store/connectionnotice.ts";
import { formatTooltip } from "../agents/statusdescription.ts";
import { isUnreachable } from "../hosts/state.ts";
import type { Session } from "../../api/types.ts";

/** The state as a coloured mark whose shape differs too, with its words for screen readers. */
export function StatusDot({ session }: { session: Session }) {
  const now = getCurrentStatus(session);
  const stale = connectionNotice.value !== undefined || isUnreachable(session.id);
  const hint = stale ? `last known: ${formatTooltip(now)}` : formatTooltip(now);
  return (
    <span class="dot-box" data-tip={hint} title="">
      <span class="dot" data-state={now.state} data-stale={stale} data-testid="status">
        <span class="sr-only">{hint}</span>
      </span>
    </span>
  );
}
