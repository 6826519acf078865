/** Past conversations in words. */
import type {
  CliItem,
  ConversationResponse,
  CreateBody,
  ConversationListResponse,
  Session,
} from "../../api/types.ts";
import { plural } from "../../lib/format.ts";

export const titleOf = ({ title, id }: ConversationResponse): string => title ?? id;

export function turnsText({ turns, turnsCut }: ConversationResponse): string {
  return turnsCut ? `over ${plural(turns, "turn")}` : plural(turns, "turn");
}

/** Why a conversation cannot be gone on with. */
export function explainNotResumable(
  { mode, workingDir }: ConversationResponse,
  cli: CliItem | undefined,
): string | undefined {
  if (!cli) return `The agent ${mode} no longer exists.`;
  if (!cli.enabled) return `${cli.label} is turned off.`;
  if (!cli.installed) return `${cli.label} is not installed.`;
  return workingDir === undefined ? "Its folder is unknown." : undefined;
}

/**
 * Return the session in which the conversation is alive.
 *
 * A detached session counts: its program goes on. A session has the last of its conversations.
 */
export function findOpenSession(
  { id }: ConversationResponse,
  sessions: readonly Session[],
): Session | undefined {
  return sessions.find((each) => (each.pid !== null || each.detached) && each.conversationIds.at(-1) === id);
}

export function resumeBody({ id, mode, workingDir }: ConversationResponse): CreateBody {
  return { mode, resumeSessionId: id, start: true, ...(workingDir !== undefined && { workingDir }) };
}

export function summarizeSearch({ total, complete }: ConversationListResponse, words: string): string {
  if (words === "") return plural(total, "conversation");
  const found = total === 0 ? "No matches" : `Found in ${plural(total, "conversation")}`;
  return complete === false ? `${found}; older ones were not searched` : found;
}

/** A text in pieces, those that were looked for apart. */
export function splitByMatch(text: string, words: string): { text: string; hit: boolean }[] {
  const found: { text: string; hit: boolean }[] = [];
  const [low, wanted] = [text.toLowerCase(), words.toLowerCase()];
  let from = 0;
  for (let at = low.indexOf(wanted); wanted !== "" && at >= 0; at = low.indexOf(wanted, from)) {
    if (at > from) found.push({ text: text.slice(from, at), hit: false });
    from = at + wanted.length;
    found.push({ text: text.slice(at, from), hit: true });
  }
  if (from < text.length) found.push({ text: text.slice(from), hit: false });
  return found;
}
