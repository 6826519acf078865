/** The page's shared state: sessions, CLIs, settings, and which session is in front. */
import { computed, signal } from "@preact/signals";
import { listClis, readSession, readSettings } from "../api/calls.ts";
import { ApiError } from "../api/errors.ts";
import type { CliItem, StatusResponse, Session, Settings } from "../api/types.ts";
import { CoalescedRead } from "../lib/coalescedread.ts";
import { browserZone, knownZone } from "../lib/zone.ts";
import { onServerEvent } from "../api/stream/events.ts";
import { showError } from "./toasts.ts";
import {
  applySessionEvent,
  setAttention,
  listInDisplayOrder,
  EMPTY,
  removeSession,
  createSessionList,
  upsertSession,
} from "./sessions.ts";

/** Of the build that this page comes from. */
declare const PAGE_VERSION: string;

export const sessionList = signal(EMPTY);
export const clis = signal<CliItem[]>([]);
export const settings = signal<Partial<Settings>>({});
export const serviceVersion = signal("");
/** What a restart of the server, or of this page, would bring; empty if nothing. */
export const updateNotice = signal("");
/** The zone of times that are the service's own; this browser's where it does not tell. */
export const serviceZone = signal(browserZone());
export const activeId = signal<string | undefined>(undefined);

export const sessions = computed(() => listInDisplayOrder(sessionList.value));
export const activeSession = computed<Session | undefined>(() =>
  activeId.value === undefined ? undefined : sessionList.value.byId.get(activeId.value),
);

export const isViewed = (id: string): boolean =>
  activeId.value === id && document.visibilityState === "visible";

export function cliOf(mode: string): CliItem | undefined {
  return clis.value.find((entry) => entry.id === mode);
}

export function putSession(session: Session): void {
  sessionList.value = upsertSession(sessionList.value, session);
}

export function dropSession(id: string): void {
  sessionList.value = removeSession(sessionList.value, id);
}

export function clearAttention(id: string): void {
  sessionList.value = setAttention(sessionList.value, id, false);
}

/** Reads under way, by session. */
const reads = new Map<string, CoalescedRead>();

async function readInto(id: string, outdated: () => boolean): Promise<void> {
  if (!sessionList.peek().byId.has(id)) return;
  try {
    const session = await readSession(id);
    // One that was deleted meanwhile would come back.
    if (!outdated() && sessionList.peek().byId.has(id)) putSession(session);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) dropSession(id);
    else showError("Couldn't load the session", error);
  }
}

async function refetch(id: string): Promise<void> {
  const read = reads.get(id) ?? new CoalescedRead((outdated) => readInto(id, outdated));
  reads.set(id, read);
  await read.now();
  reads.delete(id);
}

const idOf = (data: unknown): string => String((data as { id?: unknown } | null)?.id);

function sessionEvent(data: unknown, name: string): void {
  const outcome = applySessionEvent(sessionList.value, name, data);
  sessionList.value = outcome.list;
  if (outcome.refetch !== undefined) void refetch(outcome.refetch);
  else reads.get(idOf(data))?.markOutdated();
}

const cliReads = new CoalescedRead(async () => {
  try {
    clis.value = (await listClis()).toSorted((a, b) => a.order - b.order);
  } catch (error) {
    showError("Couldn't load the agents", error);
  }
});

const settingReads = new CoalescedRead(async () => {
  try {
    settings.value = await readSettings();
  } catch (error) {
    showError("Couldn't load the settings", error);
  }
});

export function describeUpdate(
  { version, installedVersion }: Pick<StatusResponse, "version" | "installedVersion">,
  page: string,
): string {
  if (version !== page) return "This page is older than the server. Reload it.";
  return installedVersion ? `${installedVersion} is installed. Restart the server.` : "";
}

function initEvent(state: StatusResponse): void {
  sessionList.value = createSessionList(state.sessions, sessionList.value);
  serviceVersion.value = state.version;
  updateNotice.value = describeUpdate(state, PAGE_VERSION);
  serviceZone.value = knownZone(state.timeZone);
  void cliReads.now();
  void settingReads.now();
}

/** Follow the service's events for as long as the page lives. */
export function followService(): void {
  onServerEvent("init", initEvent);
  onServerEvent("session:", sessionEvent);
  onServerEvent("cli:changed", () => void cliReads.now());
  onServerEvent("cli:installFinished", () => void cliReads.now());
  onServerEvent("settings:changed", () => void settingReads.now());
}
