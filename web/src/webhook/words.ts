/** The card's words and rules. */
import { ApiError, textOf } from "../api/errors.ts";
import { clockText } from "../agents/times.ts";
import type { Change, Kind, DeliveryResultResponse, Scope, WebhookResponse } from "./types.ts";

export const KINDS: readonly [Kind, string, string][] = [
  ["topic", "Push topic", "text with title and priority, as for ntfy"],
  ["chat_a", "Chat {text}", "as for Slack and Mattermost"],
  ["chat_b", "Chat {content}", "as for Discord"],
  ["generic", "JSON", "all fields, for a program of yours"],
];

export const SCOPES: readonly [Scope, string][] = [
  ["attention", "What needs you"],
  ["all", "Finished turns too"],
];

export type FieldName = "enabled" | "kind" | "scope" | "url";

export interface Problem {
  /** Where it belongs; absent: to the whole card. */
  field?: FieldName;
  text: string;
}

const FIELDS: readonly FieldName[] = ["enabled", "kind", "scope", "url"];

/** A refusal names its field in front of the rule: `url: must be http or https`. */
export function problemOf(error: unknown): Problem {
  const text = textOf(error);
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
export function changeOf(saved: WebhookResponse, draft: Change): Change {
  const change: Change = {};
  if (draft.enabled !== undefined && draft.enabled !== saved.enabled) change.enabled = draft.enabled;
  if (draft.kind !== undefined && draft.kind !== saved.kind) change.kind = draft.kind;
  if (draft.scope !== undefined && draft.scope !== saved.scope) change.scope = draft.scope;
  const url = draft.url?.trim();
  if (url) change.url = url;
  return change;
}

export const isEmpty = (change: Change): boolean => Object.keys(change).length === 0;

export function resultText(result: DeliveryResultResponse, now: number): string {
  const what = result.ok ? "Accepted" : (result.error ?? "Not accepted");
  const code = result.ok && result.status !== undefined ? ` (HTTP ${result.status})` : "";
  return `${what}${code}, ${clockText(result.at, now)}`;
}
