/** What a session that stands still for a usage limit says (protocol-automatic). */
import type { Session } from "../api/types.ts";
import { clockText, untilText } from "./times.ts";

export interface LimitNotice {
  text: string;
  /** What the button does: it arms or cancels the automatic continuation. */
  button: "Continue when it ends" | "Do not continue";
}

export function limitNotice(session: Session, now: number): LimitNotice | undefined {
  if (!session.limitPaused) return undefined;
  const enabled = session.autoResume?.enabled === true;
  const at = session.autoResume?.resumeAt;
  if (!enabled)
    return { text: "A usage limit is reached. It waits for you.", button: "Continue when it ends" };
  const when =
    at === undefined
      ? "It goes on when the limit ends."
      : at <= now
        ? "It goes on in a moment."
        : `It goes on at ${clockText(at, now)}, in ${untilText(at, now)}.`;
  return { text: `A usage limit is reached. ${when}`, button: "Do not continue" };
}
