/** Approval items in words. */
import { ApiError, getErrorText } from "../../api/errors.ts";
import { table } from "../../lib/table.ts";
import type { ApprovalItemResponse, ItemKind } from "./item.ts";

const KINDS: Record<ItemKind, string> = {
  permission: "asks for permission",
  question: "asks a question",
  idle: "is done",
};

/** What an agent asks before its first prompt, and other dialogs that say more than their kind. */
const DIALOGS: Record<string, string> = table({
  plan: "has a plan for you",
  trust: "asks whether to trust this folder",
  bypass: "asks whether to skip all permission questions",
  "api-key": "asks how to sign in",
  mcp: "asks about new MCP servers",
  notice: "shows a notice",
});

const describeKind = (item: ApprovalItemResponse): string => DIALOGS[item.dialog ?? ""] ?? KINDS[item.kind];

/** Tools in plain words: before a summary, and without one. Others keep their names. */
const TOOL_REQUESTS: Record<string, readonly [string, string]> = table({
  Bash: ["wants to run", "wants to run a command"],
  Shell: ["wants to run", "wants to run a command"],
  Edit: ["wants to edit", "wants to edit a file"],
  MultiEdit: ["wants to edit", "wants to edit a file"],
  NotebookEdit: ["wants to edit", "wants to edit a notebook"],
  Write: ["wants to write", "wants to write a file"],
  Read: ["wants to read", "wants to read a file"],
  WebFetch: ["wants to fetch", "wants to fetch a web page"],
  WebSearch: ["wants to search the web:", "wants to search the web"],
  ExitPlanMode: ["has a plan for you:", "has a plan for you"],
  "commands of its folder": ["asks whether to trust", "asks whether to trust what its folder runs"],
});

/** `mcp__forms__ask` is the tool `ask` of the server `forms`. */
function wordsOf(tool: string): readonly [string, string] {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  const alone = server === undefined ? `wants to use ${tool}` : `wants to use ${name} of ${server}`;
  return TOOL_REQUESTS[tool] ?? [`${alone}:`, alone];
}

function describeToolRequest(tool: string, summary: string | undefined): string {
  const [before, alone] = wordsOf(tool);
  return summary ? `${before} ${summary}` : alone;
}

/** Tools whose summary is a file. */
const FILE_TOOLS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "NotebookEdit", "Read", "Write"]);

/** What the agent asks, beside its name on a card; a command and other details stand below. */
export function describeAsk(item: ApprovalItemResponse): string {
  if (item.kind !== "permission" || !item.toolName) return describeKind(item);
  const [before, alone] = wordsOf(item.toolName);
  const file = FILE_TOOLS.has(item.toolName) ? item.toolSummary?.split("/").pop() : "";
  return file ? `${before} ${file}` : alone;
}

/** One line for hover texts and announcements: what the agent wants. */
export function describeRequest(item: ApprovalItemResponse): string {
  if (item.kind === "permission" && item.toolName)
    return describeToolRequest(item.toolName, item.toolSummary);
  if (item.kind === "question" && item.message) return `asks: ${item.message}`;
  return describeKind(item);
}

/** The agent's own words, unless they only repeat the tool that stands above them. */
export const getOwnMessage = (item: ApprovalItemResponse): string | undefined =>
  item.kind === "permission" && item.toolName && item.plan === undefined ? undefined : item.message;

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
