/** What a notification shows of a dialog, and how a press on one of its buttons becomes the answer. */
import { type Answer, formOf, isKnown, type Item, leaningOf, riskOf } from "../approvals/item.ts";
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
const TITLE_MOST = 40;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

const OPTION = /^option-([1-9])$/;

/** Browsers show two buttons. What is grave or not known has only the way to decline it. */
export function actionsOf(item: Item): Action[] {
  if (item.kind !== "permission") return [];
  const deny = { action: "deny", title: "Deny" };
  if (riskOf(item) !== undefined || !isKnown(item)) return [deny];
  const form = formOf(item);
  if (form === "blind") return [{ action: "approve", title: "Approve" }, deny];
  const agrees = (item.options ?? []).find((option) => leaningOf(item, option) === "yes");
  if (form !== "single" || !agrees) return [deny];
  return [{ action: `option-${agrees.n}`, title: cut(agrees.label, TITLE_MOST) }, deny];
}

export function noticeOf(item: Item): Notice {
  const risk = riskOf(item);
  const body = risk === undefined ? wantOf(item) : `${risk}: ${wantOf(item)}`;
  return {
    body: cut(body, BODY_MOST),
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
