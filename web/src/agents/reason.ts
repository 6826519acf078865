/** Why a session looks the way it does, in one line. */
import type { Session } from "../api/types.ts";
import type { Item } from "../approvals/item.ts";
import { wantOf } from "../approvals/words.ts";
import { lookOf, type Look, wordOf } from "../sessions/status.ts";

export interface Standing {
  look: Look;
  word: string;
  /** The evidence behind it, where it is known (protocol-session `statusReason`). */
  reason: string | undefined;
}

/** @param item what the session waits for, if the inbox holds it. */
export function standingOf(session: Session, attention: boolean, item?: Item): Standing {
  const look = lookOf(session, attention);
  const reason = look === "attention" && item ? wantOf(item) : session.statusReason;
  return { look, word: wordOf(look), reason };
}

export const hintOf = ({ word, reason }: Standing): string => (reason ? `${word}: ${reason}` : word);
