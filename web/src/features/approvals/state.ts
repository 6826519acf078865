/** What waits for a person, kept in step with the service. */
import { computed, effect, signal } from "@preact/signals";
import { asksAtStart } from "../agents/statusdescription.ts";
import { api } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { isViewed, sessionList, settings } from "../../store/state.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError } from "../../store/toasts.ts";
import {
  applyInboxEvent,
  dropSession,
  type Inbox,
  isBlocking,
  isUrgent,
  parseInbox,
  withCurrentName,
} from "./inbox.ts";
import type { ApprovalItemResponse } from "./item.ts";

const inbox = signal<Inbox>([]);

export const inboxEnabled = computed(() => settings.value["approvalsInboxEnabled"] !== false);

/** Oldest first, under the sessions' present names. */
export const approvals = computed<Inbox>(() =>
  inboxEnabled.value
    ? inbox.value.map((item) => withCurrentName(item, sessionList.value.byId.get(item.sessionId)?.name))
    : [],
);

export const approvalOf = (sessionId: string): ApprovalItemResponse | undefined =>
  approvals.value.find((item) => item.sessionId === sessionId);

/** What the inbox shows: an agent that is done leaves it once somebody looked at its session. */
export const openItems = computed<Inbox>(() => approvals.value.filter(isUrgent));

/**
 * Sessions that are blocked: a dialog is open.
 *
 * Without an inbox the session's own events tell of it, and they tell of no end.
 */
export const sessionsNeedingPerson = computed<ReadonlySet<string>>(() => {
  const { attention, byId } = sessionList.value;
  const asking = approvals.value.filter(isBlocking).map((item) => item.sessionId);
  const starting = [...byId.values()].filter(asksAtStart).map(({ id }) => id);
  return new Set([...(inboxEnabled.value ? [] : attention), ...asking, ...starting]);
});

/** Sessions that have finished, and nobody has looked since. */
export const finishedSessions = computed<ReadonlySet<string>>(
  () => new Set(openItems.value.filter((item) => !isBlocking(item)).map((item) => item.sessionId)),
);

export const needsYou = (sessionId: string): boolean => sessionsNeedingPerson.value.has(sessionId);
export const isFinished = (sessionId: string): boolean => finishedSessions.value.has(sessionId);

/** Who waits for a person, then who is done, then the others. */
export const attentionRank = (sessionId: string): number =>
  needsYou(sessionId) ? 0 : isFinished(sessionId) ? 1 : 2;

export function setInbox(change: (before: Inbox) => Inbox): void {
  reads.markOutdated();
  inbox.value = change(inbox.peek());
}

const reads = new CoalescedRead(async (outdated) => {
  try {
    const { approvals: items } = await api.get("/api/approvals");
    // An item that was answered meanwhile would come back.
    if (!outdated()) inbox.value = parseInbox(items);
  } catch (error) {
    showError("Couldn't load the inbox", error);
  }
});

/** Read the inbox anew: each item is checked against its pane again by that (protocol-approvals). */
export const refresh = (): Promise<void> => reads.now();

const told = new Set<string>();

/** Looking at an idle agent's session is all that its item asks for. */
async function acknowledge(item: ApprovalItemResponse): Promise<void> {
  if (told.has(item.id)) return;
  told.add(item.id);
  try {
    await api.post("/api/approvals/session/{id}/viewed", { path: { id: item.sessionId } });
    setInbox((before) =>
      before.map((other) => (other.id === item.id ? { ...other, acknowledgedAt: Date.now() } : other)),
    );
  } catch (error) {
    // The item may have ended in between; anything else may be tried at the next look.
    told.delete(item.id);
    if (!(error instanceof ApiError && error.status === 404)) showError("Couldn't mark it as seen", error);
  }
}

function acknowledgeViewed(): void {
  for (const item of approvals.value) {
    if (item.kind === "idle" && isUrgent(item) && isViewed(item.sessionId)) void acknowledge(item);
  }
}

/** Follow the service's events for as long as the page lives. */
export function followApprovals(): void {
  onServerEvent("init", ({ approvals }) => {
    told.clear();
    setInbox(() => parseInbox(approvals));
  });
  onServerEvent("approval:", (data, name) => setInbox((before) => applyInboxEvent(before, name, data)));
  onServerEvent("session:deleted", ({ id }) => setInbox((before) => dropSession(before, id)));
  effect(acknowledgeViewed);
  document.addEventListener("visibilitychange", acknowledgeViewed);
}
