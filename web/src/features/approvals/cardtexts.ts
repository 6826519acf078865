/** What a card of the inbox says of an item, and of an answer that was refused. */
import { ApiError, getErrorText } from "../../api/errors.ts";
import type { ApprovalItemResponse } from "./item.ts";
import { describeKind, getRequestWords } from "./texts.ts";

/** Tools whose summary is a file. */
const FILE_TOOLS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "NotebookEdit", "Read", "Write"]);

/** What the agent asks, beside its name on a card; a command and other details stand below. */
export function describeAsk(item: ApprovalItemResponse): string {
  if (item.kind !== "permission" || !item.toolName) return describeKind(item);
  const [before, alone] = getRequestWords(item.toolName);
  const file = FILE_TOOLS.has(item.toolName) ? item.toolSummary?.split("/").pop() : "";
  return file ? `${before} ${file}` : alone;
}

/** The agent's own words, unless they only repeat the tool that stands above them. */
export const getOwnMessage = (item: ApprovalItemResponse): string | undefined =>
  item.kind === "permission" && item.toolName && item.plan === undefined ? undefined : item.message;

const MINUTE_MS = 60_000;

/** How long an item has waited, in one unit. */
export function formatAge(sinceMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - sinceMs) / MINUTE_MS);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export interface AnswerProblem {
  /** `gone`: nothing is left to answer; `changed`: look again; `kept`: it may be tried again. */
  kind: "gone" | "changed" | "kept";
  text: string;
}

/** What a refused answer means for the item (protocol-approvals). */
export function describeAnswerProblem(error: unknown): AnswerProblem {
  const status = error instanceof ApiError ? error.status : undefined;
  if (status === 404) return { kind: "gone", text: "Already answered." };
  if (status === 409) return { kind: "changed", text: `Couldn't send the answer: ${getErrorText(error)}` };
  if (status === 422) return { kind: "kept", text: `Couldn't send the answer: ${getErrorText(error)}` };
  if (status === 0)
    return { kind: "changed", text: "Can't reach the server. Your answer may not have arrived." };
  return { kind: "kept", text: `Couldn't send the answer: ${getErrorText(error)}` };
}
