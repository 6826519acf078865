/** Approval items in words. */
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

export const describeKind = (item: ApprovalItemResponse): string =>
  DIALOGS[item.dialog ?? ""] ?? KINDS[item.kind];

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
export function getRequestWords(tool: string): readonly [string, string] {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  const alone = server === undefined ? `wants to use ${tool}` : `wants to use ${name} of ${server}`;
  return TOOL_REQUESTS[tool] ?? [`${alone}:`, alone];
}

function describeToolRequest(tool: string, summary: string | undefined): string {
  const [before, alone] = getRequestWords(tool);
  return summary ? `${before} ${summary}` : alone;
}

/** One line for hover texts and announcements: what the agent wants. */
export function describeRequest(item: ApprovalItemResponse): string {
  if (item.kind === "permission" && item.toolName)
    return describeToolRequest(item.toolName, item.toolSummary);
  if (item.kind === "question" && item.message) return `asks: ${item.message}`;
  return describeKind(item);
}

export const formatAnnouncement = (item: ApprovalItemResponse): string =>
  `${item.sessionName} ${describeRequest(item)}`;
