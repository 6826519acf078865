/** What a session that stands still for a usage limit says (protocol-automatic). */
import type { Session } from "../../api/types.ts";
import { formatClockTime, formatTimeUntil } from "./times.ts";

export interface LimitNotice {
  text: string;
  /** What the button does: it arms or cancels the automatic continuation. */
  button: "Continue after reset" | "Cancel auto-continue";
}

export function describeLimit(session: Session, now: number): LimitNotice | undefined {
  if (!session.limitPaused) return undefined;
  const enabled = session.autoResume?.enabled === true;
  const at = session.autoResume?.resumeAt;
  if (!enabled)
    return { text: "Usage limit reached. The agent has stopped.", button: "Continue after reset" };
  const when =
    at === undefined
      ? "The agent continues when the limit resets."
      : at <= now
        ? "The agent continues in a moment."
        : `The agent continues at ${formatClockTime(at, now)}, in ${formatTimeUntil(at, now)}.`;
  return { text: `Usage limit reached. ${when}`, button: "Cancel auto-continue" };
}
