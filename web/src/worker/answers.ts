/** What a notification shows of a dialog, and how a press on one of its buttons becomes the answer. */
import {
  type Answer,
  formOf,
  isKnown,
  type ApprovalItemResponse,
  leaningOf,
  missingOf,
  riskOf,
} from "../approvals/item.ts";
import { wantOf } from "../approvals/words.ts";

export interface Action {
  action: string;
  title: string;
}

/** What is kept with the notification, for the moment in which it is pressed. */
export interface Kept {
  sessionId: string;
  approvalId: string;
  /** The dialog that was shown: another one is not answered (protocol-approvals). */
  frame: string;
}

export interface Notice {
  body: string;
  actions: Action[];
  data: Kept;
}

/** Characters; phones show some three lines. */
const BODY_MOST = 240;
/** Characters and lines that are in view on every phone before anybody unfolds the notification. */
const VIEW_MOST = 120;
const LINES_MOST = 3;
const TITLE_MOST = 40;

function cut(text: string): string {
  if (text.length <= BODY_MOST) return text;
  const mark = (missing: number) => `… (${missing} more characters)`;
  const kept = text.slice(0, BODY_MOST - mark(text.length).length);
  return kept + mark(text.length - kept.length);
}

const OPTION = /^option-([1-9])$/;

/** Whether all that agreeing allows can be read in the notification itself. */
function isInView(item: ApprovalItemResponse): boolean {
  const text = wantOf(item);
  return item.complete === true && text.length <= VIEW_MOST && text.split("\n").length <= LINES_MOST;
}

/** Browsers show two buttons. What is grave or not wholly in view can be declined or opened there. */
export function actionsOf(item: ApprovalItemResponse): Action[] {
  if (item.kind !== "permission") return [];
  const deny = { action: "deny", title: "Deny" };
  const careful = [deny, { action: "open", title: "Open" }];
  if (riskOf(item) !== undefined || !isKnown(item) || !isInView(item)) return careful;
  const form = formOf(item);
  if (form === "blind") return [{ action: "approve", title: "Approve" }, deny];
  const agrees = (item.options ?? []).find((option) => leaningOf(item, option) === "yes");
  if (form !== "single" || !agrees || agrees.label.length > TITLE_MOST) return careful;
  return [{ action: `option-${agrees.n}`, title: agrees.label }, deny];
}

export function noticeOf(item: ApprovalItemResponse): Notice {
  const risk = riskOf(item);
  const hint = risk === undefined ? "" : `Hint: ${risk}. `;
  const missing = missingOf(item);
  const body = `${hint}${missing === undefined ? "" : `${missing}. `}${wantOf(item)}`;
  return {
    body: cut(body),
    actions: actionsOf(item),
    data: { sessionId: item.sessionId, approvalId: item.id, frame: item.frame },
  };
}

/** @returns undefined for a press on the notification itself. */
export function answerOf(action: string): Answer | undefined {
  if (action === "approve" || action === "deny") return { action };
  const option = OPTION.exec(action)?.[1];
  return option === undefined ? undefined : { action: "option", option: Number(option) };
}

export function keptOf(value: unknown): Kept | undefined {
  const { sessionId, approvalId, frame } = (value ?? {}) as Partial<Kept>;
  const whole = [sessionId, approvalId, frame].every((each) => typeof each === "string");
  return whole ? (value as Kept) : undefined;
}
