/** Tells a person who looks elsewhere that an agent waits. */
import type { ChecksPayload, NotificationPreferences, EventName, Session, Told } from "../../api/types.ts";
import type { ApprovalItemResponse, ItemKind } from "../approvals/item.ts";
import { effect, signal } from "@preact/signals";
import { APPROVALS_PAGE, openInboxAt } from "../approvals/openinbox.ts";
import { approvals, sessionsNeedingPerson } from "../approvals/state.ts";
import { formatAnnouncement, describeRequest } from "../approvals/texts.ts";
import { beforeSignOut } from "../auth/state.ts";
import { select } from "../../ui/pages/select.ts";
import { sessionList, settings } from "../../store/state.ts";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import { api } from "../../api/client.ts";
import { onServerEvent } from "../../api/stream/events.ts";
import { showError } from "../../store/toasts.ts";
import { customNotices } from "./customnotices.ts";
import { startLooking } from "./looking.ts";
import { leaveDevice, resume, showNotification } from "./device.ts";
import { isOn } from "./devicestate.ts";

export type Preferences = Required<NotificationPreferences>;
export type NotifiedEvent = Preferences["events"][number];

export const DEFAULT_PREFERENCES: Preferences = {
  enabled: false,
  sound: false,
  events: ["permission_prompt", "elicitation_dialog", "idle_prompt"],
};

const EVENT_OF: Record<ItemKind, NotifiedEvent> = {
  permission: "permission_prompt",
  question: "elicitation_dialog",
  idle: "idle_prompt",
};

export function readPreferences(value: unknown): Preferences {
  const given = (value ?? {}) as Partial<Preferences>;
  return {
    enabled: given.enabled === true,
    sound: given.sound === true,
    events: Array.isArray(given.events) ? given.events : DEFAULT_PREFERENCES.events,
  };
}

/** Items that were not there before; another page of the same question is a change, no arrival. */
export const arrivals = (
  known: ReadonlySet<string>,
  items: readonly ApprovalItemResponse[],
): ApprovalItemResponse[] => items.filter((item) => !known.has(item.id));

interface NotificationContext {
  preferences: Preferences;
  /** This browser was switched on and its permission given. */
  here: boolean;
  hidden: boolean;
}

/** A page in sight says it by itself. */
export const mayNotify = (event: NotifiedEvent, now: NotificationContext): boolean =>
  now.here && now.hidden && now.preferences.enabled && now.preferences.events.includes(event);

export const maySound = (event: NotifiedEvent, preferences: Preferences): boolean =>
  preferences.sound && preferences.events.includes(event);

function showDot(on: boolean): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = on ? "./icons/icon-alert.svg" : "./icons/icon.svg";
  if (link && link.getAttribute("href") !== href) link.setAttribute("href", href);
}

const TONES = [
  [660, 0],
  [880, 0.14],
] as const;
const LENGTH_S = 0.22;
const LOUDNESS = 0.08;

let context: AudioContext | undefined;

function chime(): void {
  if (!("AudioContext" in window)) return;
  context ??= new AudioContext();
  if (context.state === "suspended") {
    void context.resume();
    return;
  }
  for (const [frequency, after] of TONES) {
    const [tone, gain] = [context.createOscillator(), context.createGain()];
    const begin = context.currentTime + after;
    tone.frequency.value = frequency;
    gain.gain.setValueAtTime(LOUDNESS, begin);
    gain.gain.exponentialRampToValueAtTime(0.0001, begin + LENGTH_S);
    tone.connect(gain).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + LENGTH_S);
  }
}

/** For screen readers: what has just come up. */
export const announcement = signal("");

const report = (error: unknown): void => showError("Couldn't show the notification", error);

const ASKING: readonly NotifiedEvent[] = ["permission_prompt", "elicitation_dialog", "error", "stalled"];

/** A pause without an end ends by a question, whose news may come before that of the end. */
export const isMuted = (session: Pick<Session, "snooze"> | undefined, event: NotifiedEvent): boolean =>
  session?.snooze !== undefined && (session.snooze.until !== undefined || !ASKING.includes(event));

const ANSWERED: ReadonlySet<string> = new Set(["permission_prompt", "elicitation_dialog", "digest"]);

/** What waits for an answer is opened itself; all else is its session. The service worker does the same. */
const pageOf = (kind: string): string | undefined => (ANSWERED.has(kind) ? APPROVALS_PAGE : undefined);

function tell(event: NotifiedEvent, sessionId: string, title: string, text: string): void {
  // Rules of the account decide at the service, which then tells every page.
  if (customNotices.peek() || isMuted(sessionList.peek().byId.get(sessionId), event)) return;
  const preferences = readPreferences(settings.peek()["notificationPreferences"]);
  if (maySound(event, preferences)) chime();
  const now = { preferences, here: isOn(), hidden: document.visibilityState === "hidden" };
  if (mayNotify(event, now)) showNotification(title, text, sessionId, pageOf(event)).catch(report);
}

function arrived(item: ApprovalItemResponse): void {
  announcement.value = formatAnnouncement(item);
  if (isMuted(sessionList.peek().byId.get(item.sessionId), EVENT_OF[item.kind]))
    paused.value = new Set([...paused.peek(), item.id]);
  tell(EVENT_OF[item.kind], item.sessionId, item.sessionName, describeRequest(item));
}

/** Items that came in a pause of their session's notices; they are told when the pause ends. */
const paused = signal<ReadonlySet<string>>(new Set());

function tellAfterPause(): void {
  const items = approvals.value.filter(({ id }) => paused.peek().has(id));
  const ended = items.filter(
    (item) => !isMuted(sessionList.value.byId.get(item.sessionId), EVENT_OF[item.kind]),
  );
  const left = items.filter((item) => !ended.includes(item)).map(({ id }) => id);
  if (left.length < paused.peek().size) paused.value = new Set(left);
  for (const item of ended)
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
  "session:exit": ["exit", "exited"],
  "session:error": ["error", "keeps crashing"],
  "session:stalled": ["stalled", "seems to hang"],
} as const satisfies Partial<Record<EventName, readonly [NotifiedEvent, string]>>;

function followEnd(name: keyof typeof ENDS): void {
  const [event, text] = ENDS[name];
  onServerEvent(name, ({ id }: { id: string }) => {
    const session = sessionList.peek().byId.get(id);
    if (session) tell(event, session.id, session.name, text);
  });
}

/** What the account's own rules announce on its pages. */
function showNotice({ kind, sessionId, title, body }: Told["notice:sent"]): void {
  const { sound } = readPreferences(settings.peek()["notificationPreferences"]);
  if (sound) chime();
  if (!isOn() || document.visibilityState !== "hidden") return;
  showNotification(title, body, sessionId || kind, pageOf(kind)).catch(report);
}

const FINISHED = "finished its turn";

/** With checks the end of a turn is told when they have a result. */
async function turnEnded({ id }: { id: string }): Promise<void> {
  const { checks } = await api.get("/api/sessions/{id}/checks", { path: { id } });
  if (checks.length === 0) tellTurn(id, FINISHED);
}

function checksEnded({ sessionId, state, trigger, followUp }: ChecksPayload): void {
  const isLast = followUp === "none" || followUp === "notified";
  if (!isLast || trigger !== "turn" || state === "cancelled") return;
  tellTurn(sessionId, state === "red" ? "ended its turn with red checks" : FINISHED);
}

function tellTurn(id: string, text: string): void {
  const session = sessionList.peek().byId.get(id);
  if (session) tell("stop", session.id, session.name, text);
}

/** A click on a notification, told by the service worker. */
function opened(event: MessageEvent): void {
  const message = event.data as { type?: unknown; sessionId?: unknown; page?: unknown } | null;
  if (message?.type !== "open-session" || typeof message.sessionId !== "string") return;
  select(message.sessionId);
  if (message.page === APPROVALS_PAGE) openInboxAt(message.sessionId);
}

export function startNotifications(): void {
  effect(watchInbox);
  effect(tellAfterPause);
  effect(() => showDot(sessionsNeedingPerson.value.size > 0));
  onServerEvent("session:stop", (told) => {
    // Better told too early than never.
    turnEnded(told).catch(() => tellTurn(told.id, FINISHED));
  });
  onServerEvent("check:finished", checksEnded);
  followEnd("session:exit");
  followEnd("session:error");
  followEnd("session:stalled");
  onServerEvent("init", (state) => (customNotices.value = state.customNotices === true));
  onServerEvent("notice:rulesChanged", ({ custom }) => (customNotices.value = custom));
  onServerEvent("notice:sent", showNotice);
  startLooking();
  if ("serviceWorker" in navigator) navigator.serviceWorker.addEventListener("message", opened);
  beforeSignOut(leaveDevice);
  resume().catch(report);
}
