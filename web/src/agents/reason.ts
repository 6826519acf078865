/** Why a session looks the way it does, in one line. */
import type { Session } from "../api/types.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { wantOf } from "../approvals/words.ts";
import { endingText, lookOf, type Look, wordOf } from "../sessions/status.ts";

export interface Standing {
  look: Look;
  word: string;
  /** What there is to say beside that word. */
  reason: string | undefined;
}

/** The evidence where nobody sees what the program does (protocol-containers). */
const PAUSED = "its container is paused";

/** What the program itself shows, quoted by the evidence (protocol-session `statusReason`). */
const QUOTED = /^(?:working line|title|[a-z-]+ dialog): (.+)$/;
/** What a program asks before its first prompt; the inbox holds none of it (protocol-approvals). */
const AT_START = /^(?:trust|bypass|api-key|mcp) dialog: /;
/** Spinners and bullets that come before a program's words. */
const ORNAMENT = /^[^\p{L}\p{N}]+/u;

/** The program's own words in the evidence; the rest of it is for whoever looks for a fault. */
export function saidIn(evidence: string | undefined): string | undefined {
  const quoted = QUOTED.exec(evidence ?? "")?.[1];
  return quoted?.replace(ORNAMENT, "").trim() || undefined;
}

/** Whether it cannot begin before a person answers; the service trusts for Claude Code itself. */
export function asksAtStart({ mode, pid, status, statusReason = "" }: Session): boolean {
  if (pid === null || status !== "idle") return false;
  return AT_START.test(statusReason) && !(mode === "primary" && statusReason.startsWith("trust "));
}

function reasonOf(session: Session, look: Look, item: ApprovalItemResponse | undefined): string | undefined {
  if ((look === "attention" || look === "done") && item) return wantOf(item);
  if (look === "ended" && !session.paneExit) return undefined;
  if (ENDED.has(look)) return endingText(session);
  if (look === "idle") return session.statusReason === PAUSED ? session.statusReason : undefined;
  return session.currentTask ?? saidIn(session.statusReason);
}

const ENDED: ReadonlySet<Look> = new Set(["ended", "stopped", "error", "detached"]);

/** @param item what the session waits for, if the inbox holds it. */
export function standingOf(session: Session, attention: boolean, item?: ApprovalItemResponse): Standing {
  const seen = lookOf(session, attention);
  const look = seen === "attention" && item?.kind === "idle" ? "done" : seen;
  return { look, word: wordOf(look), reason: reasonOf(session, look, item) };
}

export const hintOf = ({ word, reason }: Standing): string => (reason ? `${word}: ${reason}` : word);
