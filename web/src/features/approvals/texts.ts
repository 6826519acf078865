/** Approval items in words. */
import { ApiError, getErrorText } from "../../api/errors.ts";
import { table } from "../../lib/table.ts";
import type { ApprovalItemResponse, ItemKind } from "./item.ts";

const KINDS: Record<ItemKind, string> = {
  permission: "asks for permission",
  question: "asks a question",
  idle: "is done",
};

export const getKindLabel = (kind: ItemKind): string => KINDS[kind];

/** Claude Code's tools in plain words: before a summary, and without one. Others keep their names. */
const TOOL_REQUESTS: Record<string, readonly [string, string]> = table({
  Bash: ["wants to run", "wants to run a command"],
  Edit: ["wants to edit", "wants to edit a file"],
  MultiEdit: ["wants to edit", "wants to edit a file"],
  NotebookEdit: ["wants to edit", "wants to edit a notebook"],
  Write: ["wants to write", "wants to write a file"],
  Read: ["wants to read", "wants to read a file"],
  WebFetch: ["wants to fetch", "wants to fetch a web page"],
  WebSearch: ["wants to search the web:", "wants to search the web"],
  ExitPlanMode: ["has a plan for you to approve:", "has a plan for you to approve"],
});

function describeToolRequest(tool: string, summary: string | undefined): string {
  const name = `wants to use ${tool}`;
  const [before, alone] = TOOL_REQUESTS[tool] ?? [`${name}:`, name];
  return summary ? `${before} ${summary}` : alone;
}

/** One line for hover texts and announcements: what the agent wants. */
export function describeRequest(item: ApprovalItemResponse): string {
  if (item.kind === "permission" && item.toolName)
    return describeToolRequest(item.toolName, item.toolSummary);
  if (item.kind === "question" && item.message) return `asks: ${item.message}`;
  return getKindLabel(item.kind);
}

/** The agent's own words, unless they only repeat the tool that stands above them. */
export const getOwnMessage = (item: ApprovalItemResponse): string | undefined =>
  item.kind === "permission" && item.toolName ? undefined : item.message;

export const formatAnnouncement = (item: ApprovalItemResponse): string =>
  `${item.sessionName} ${describeRequest(item)}`;

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
