/** The card's words and rules. */
import { ApiError, getErrorText } from "../../api/errors.ts";
import { formatClockTime } from "../agents/times.ts";
import type { DeliveryResultResponse, WebhookResponse } from "../../api/types.ts";

export type Kind = WebhookResponse["kind"];
export type Scope = WebhookResponse["scope"];

/** What is absent stays; an empty URL is cleared. */
export type Change = Partial<Pick<WebhookResponse, "enabled" | "kind" | "scope">> & { url?: string };

export const KINDS: readonly [Kind, string, string][] = [
  ["topic", "ntfy", "text with title and priority"],
  ["chat_a", "Slack, Mattermost", "chat message in {text}"],
  ["chat_b", "Discord", "chat message in {content}"],
  ["generic", "JSON", "all fields, for your own program"],
];

export const SCOPES: readonly [Scope, string][] = [
  ["attention", "Needs you"],
  ["all", "Also finished turns"],
];

export type FieldName = "enabled" | "kind" | "scope" | "url";

export interface Problem {
  /** Where it belongs; absent: to the whole card. */
  field?: FieldName;
  text: string;
}

const FIELDS: readonly FieldName[] = ["enabled", "kind", "scope", "url"];

/** A refusal names its field in front of the rule: `url: must be http or https`. */
export function parseProblem(error: unknown): Problem {
  const text = getErrorText(error);
  const at = text.indexOf(": ");
  const field = FIELDS.find((name) => name === text.slice(0, at));
  if (!(error instanceof ApiError) || error.status !== 400 || field === undefined) return { text };
  return { field, text: sentenceOf(text.slice(at + 2)) };
}

function sentenceOf(rule: string): string {
  const begun = rule.charAt(0).toUpperCase() + rule.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Only what differs is sent; an empty URL field means the saved one, not none. */
export function diffDraft(saved: WebhookResponse, draft: Change): Change {
  const change: Change = {};
  if (draft.enabled !== undefined && draft.enabled !== saved.enabled) change.enabled = draft.enabled;
  if (draft.kind !== undefined && draft.kind !== saved.kind) change.kind = draft.kind;
  if (draft.scope !== undefined && draft.scope !== saved.scope) change.scope = draft.scope;
  const url = draft.url?.trim();
  if (url) change.url = url;
  return change;
}

export const isEmpty = (change: Change): boolean => Object.keys(change).length === 0;

export function describeResult(result: DeliveryResultResponse, now: number): string {
  const what = result.ok ? "Accepted" : (result.error ?? "Rejected");
  const code = result.ok && result.status !== undefined ? ` (HTTP ${result.status})` : "";
  return `${what}${code}, ${formatClockTime(result.at, now)}`;
}
