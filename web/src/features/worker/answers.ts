/** What a notification shows of a dialog, and how a press on one of its buttons becomes the answer. */
import {
  type Answer,
  getForm,
  isKnown,
  type ApprovalItemResponse,
  getLeaning,
  describeMissing,
  getRisk,
} from "../approvals/item.ts";
import { describeRequest } from "../approvals/texts.ts";

export interface Action {
  action: string;
  title: string;
}

/** What is kept with the notification, for the moment in which it is pressed. */
export interface NotificationData {
  sessionId: string;
  approvalId: string;
  /** The dialog that was shown: another one is not answered (protocol-approvals). */
  frame: string;
}

export interface Notice {
  body: string;
  actions: Action[];
  data: NotificationData;
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
  const text = describeRequest(item);
  return item.complete === true && text.length <= VIEW_MOST && text.split("\n").length <= LINES_MOST;
}

/** Browsers show two buttons. What is grave or not wholly in view can be declined or opened there. */
export function listActions(item: ApprovalItemResponse): Action[] {
  if (item.kind !== "permission") return [];
  const deny = { action: "deny", title: "Deny" };
  const careful = [deny, { action: "open", title: "Open" }];
  if (getRisk(item) !== undefined || !isKnown(item) || !isInView(item)) return careful;
  const form = getForm(item);
  if (form === "blind") return [{ action: "approve", title: "Approve" }, deny];
  const agrees = (item.options ?? []).find((option) => getLeaning(item, option) === "yes");
  if (form !== "single" || !agrees || agrees.label.length > TITLE_MOST) return careful;
  return [{ action: `option-${agrees.n}`, title: agrees.label }, deny];
}

export function buildNotice(item: ApprovalItemResponse): Notice {
  const risk = getRisk(item);
  const hint = risk === undefined ? "" : `Hint: ${risk}. `;
  const missing = describeMissing(item);
  const body = `${hint}${missing === undefined ? "" : `${missing}. `}${describeRequest(item)}`;
  return {
    body: cut(body),
    actions: listActions(item),
    data: { sessionId: item.sessionId, approvalId: item.id, frame: item.frame },
  };
}

/** @returns undefined for a press on the notification itself. */
export function parseAnswer(action: string): Answer | undefined {
  if (action === "approve" || action === "deny") return { action };
  const option = OPTION.exec(action)?.[1];
  return option === undefined ? undefined : { action: "option", option: Number(option) };
}

export function parseNotificationData(value: unknown): NotificationData | undefined {
  const { sessionId, approvalId, frame } = (value ?? {}) as Partial<NotificationData>;
  const whole = [sessionId, approvalId, frame].every((each) => typeof each === "string");
  return whole ? (value as NotificationData) : undefined;
}
