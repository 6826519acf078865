/** Why a session looks the way it does, in one line. */
import type { Session } from "../../api/types.ts";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { describeRequest } from "../approvals/texts.ts";
import { describeExit, getDisplayState, type DisplayState, getStateLabel } from "../sessions/status.ts";

export interface StatusDescription {
  state: DisplayState;
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
export function extractQuotedText(evidence: string | undefined): string | undefined {
  const quoted = QUOTED.exec(evidence ?? "")?.[1];
  return quoted?.replace(ORNAMENT, "").trim() || undefined;
}

/** Whether it cannot begin before a person answers; the service trusts for Claude Code itself. */
export function asksAtStart({ mode, pid, status, statusReason = "" }: Session): boolean {
  if (pid === null || status !== "idle") return false;
  return AT_START.test(statusReason) && !(mode === "primary" && statusReason.startsWith("trust "));
}

function reasonOf(
  session: Session,
  state: DisplayState,
  item: ApprovalItemResponse | undefined,
): string | undefined {
  if (state === "done") return undefined;
  if (state === "attention" && item) return describeRequest(item);
  if (state === "ended" && !session.paneExit) return undefined;
  if (ENDED.has(state)) return describeExit(session);
  if (state === "idle" && session.statusReason === PAUSED) return session.statusReason;
  if (state === "idle") return session.lastExitStatus ? `exit ${session.lastExitStatus}` : undefined;
  if (session.foreground) return session.foreground.name;
  return session.currentTask ?? extractQuotedText(session.statusReason);
}

const ENDED: ReadonlySet<DisplayState> = new Set(["ended", "stopped", "error", "detached"]);

/** @param item what the session waits for, if the inbox holds it. */
export function describeStatus(
  session: Session,
  attention: boolean,
  item?: ApprovalItemResponse,
): StatusDescription {
  const shown = getDisplayState(session, attention);
  const state = shown === "attention" && item?.kind === "idle" ? "done" : shown;
  return { state, word: getStateLabel(state, session.mode), reason: reasonOf(session, state, item) };
}

/** How the agent's own report and its screen differ; undefined while they agree. */
export function describeConflict({ statusConflict }: Session): string | undefined {
  return statusConflict && `The state is not certain. ${statusConflict}`;
}

export const formatTooltip = ({ word, reason }: StatusDescription): string =>
  reason ? `${word}: ${reason}` : word;
