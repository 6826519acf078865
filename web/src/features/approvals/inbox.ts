/** The list of what waits, as a pure value (protocol-approvals: one item for each session, newest wins). */
import type { ApprovalItemResponse } from "./item.ts";

export type Inbox = readonly ApprovalItemResponse[];

const isItem = (value: unknown): value is ApprovalItemResponse => {
  const item = value as Partial<ApprovalItemResponse> | null;
  return (
    typeof item === "object" &&
    item !== null &&
    typeof item.id === "string" &&
    typeof item.sessionId === "string"
  );
};

const oldestFirst = (items: readonly ApprovalItemResponse[]): Inbox =>
  items.toSorted((a, b) => a.createdAt - b.createdAt);

export function parseInbox(items: unknown): Inbox {
  return Array.isArray(items) ? oldestFirst(items.filter(isItem)) : [];
}

/** An item in the place of any other of its session. */
export function putItem(inbox: Inbox, item: unknown): Inbox {
  if (!isItem(item)) return inbox;
  return oldestFirst([...inbox.filter((other) => other.sessionId !== item.sessionId), item]);
}

export const dropItem = (inbox: Inbox, id: string): Inbox => inbox.filter((item) => item.id !== id);

export const dropSession = (inbox: Inbox, sessionId: string): Inbox =>
  inbox.filter((item) => item.sessionId !== sessionId);

/** What an `approval:*` event does to the list; the end of an older item leaves a newer one. */
export function applyInboxEvent(inbox: Inbox, name: string, data: unknown): Inbox {
  if (name === "approval:resolved") return dropItem(inbox, String((data as { id?: unknown } | null)?.id));
  return putItem(inbox, data);
}

/** A dialog is open: the agent cannot go on without a person. */
export const isBlocking = (item: ApprovalItemResponse): boolean => item.kind !== "idle";

/** A dialog counts until it is answered; an agent that is done only until somebody looked. */
export const isUrgent = (item: ApprovalItemResponse): boolean =>
  isBlocking(item) || item.acknowledgedAt === undefined;

/** @param known names as they are now: a session may have been renamed since. */
export function withCurrentName(item: ApprovalItemResponse, known: string | undefined): ApprovalItemResponse {
  return known === undefined || known === item.sessionName ? item : { ...item, sessionName: known };
}
