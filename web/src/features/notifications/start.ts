/** Tells a person who looks elsewhere that an agent waits. */
import type { EventName } from "../../api/types.ts";
import { effect, signal } from "@preact/signals";
import type { ApprovalItemResponse } from "../approvals/item.ts";
import { approvals, sessionsNeedingPerson } from "../approvals/state.ts";
import { formatAnnouncement, describeRequest } from "../approvals/texts.ts";
import { beforeSignOut } from "../auth/state.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionList, settings } from "../../store/state.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError } from "../../store/toasts.ts";
import { arrivals, EVENT_OF, mayNotify, maySound, type NotifiedEvent, readPreferences } from "./arrivals.ts";
import { isOn, leaveDevice, resume, showNotification } from "./device.ts";
import { showDot } from "./favicon.ts";
import { chime } from "./sound.ts";

/** For screen readers: what has just come up. */
export const announcement = signal("");

const report = (error: unknown): void => showError("Couldn't show the notification", error);

function tell(event: NotifiedEvent, sessionId: string, title: string, text: string): void {
  const preferences = readPreferences(settings.peek()["notificationPreferences"]);
  if (maySound(event, preferences)) chime();
  const now = { preferences, here: isOn(), hidden: document.visibilityState === "hidden" };
  if (mayNotify(event, now)) showNotification(title, text, sessionId).catch(report);
}

function arrived(item: ApprovalItemResponse): void {
  announcement.value = formatAnnouncement(item);
  tell(EVENT_OF[item.kind], item.sessionId, item.sessionName, describeRequest(item));
}

let known: ReadonlySet<string> | undefined;

/** What waited already when the page came up is shown, not told. */
function watchInbox(): void {
  const items = approvals.value;
  if (!hasReceivedInit.value) {
    known = undefined;
    return;
  }
  if (known !== undefined) arrivals(known, items).forEach(arrived);
  known = new Set(items.map((item) => item.id));
}

const ENDS = {
  "session:stop": ["stop", "finished its turn"],
  "session:exit": ["exit", "exited"],
  "session:error": ["error", "keeps crashing"],
} as const satisfies Partial<Record<EventName, readonly [NotifiedEvent, string]>>;

function followEnd(name: keyof typeof ENDS): void {
  const [event, text] = ENDS[name];
  onServerEvent(name, ({ id }: { id: string }) => {
    const session = sessionList.peek().byId.get(id);
    if (session) tell(event, session.id, session.name, text);
  });
}

/** A click on a notification, told by the service worker. */
function opened(event: MessageEvent): void {
  const message = event.data as { type?: unknown; sessionId?: unknown } | null;
  if (message?.type === "open-session" && typeof message.sessionId === "string") select(message.sessionId);
}

export function startNotifications(): void {
  effect(watchInbox);
  effect(() => showDot(sessionsNeedingPerson.value.size > 0));
  followEnd("session:stop");
  followEnd("session:exit");
  followEnd("session:error");
  if ("serviceWorker" in navigator) navigator.serviceWorker.addEventListener("message", opened);
  beforeSignOut(leaveDevice);
  resume().catch(report);
}
