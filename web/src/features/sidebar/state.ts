/** Where the sessions are listed, and in which order they are seen there: the keys follow it. */
import { computed, effect, signal } from "@preact/signals";
import { hasReceivedInit } from "../../api/stream/connection.ts";
import type { Session } from "../../api/types.ts";
import { readStored, writeStored } from "../../lib/stored.ts";
import { change, prefs } from "../../store/prefs.ts";
import { cliOf, sessions } from "../../store/state.ts";
import { narrow, wide } from "../../ui/width.ts";
import { getCurrentStatus } from "../agents/currentstatus.ts";
import { sessionsNeedingPerson } from "../approvals/state.ts";
import { groupSessions, matchesFilter } from "./groups.ts";

/** So many tabs can still be read side by side. */
const TABS_READ = 5;

const KEY = "tservice.sidebar";

/** It had its place when this browser was here last, and keeps it while the sessions are on their way. */
const hadMany = readStored(KEY) === "true";

const many = computed(() => (hasReceivedInit.value ? sessions.value.length > TABS_READ : hadMany));

/** The sessions stand at the side and not in a row of tabs. */
export const sidebarShown = computed(() => {
  if (narrow.value || prefs.value.sessionList === "tabs") return false;
  return prefs.value.sessionList === "sidebar" || many.value;
});

effect(() => {
  if (hasReceivedInit.value) writeStored(KEY, String(many.value));
});

/** There is room for marks and initials only. */
export const railShown = computed(() => sidebarShown.value && !wide.value);

const RAIL_WIDTH = "52px";

/** For the style sheets; a window that was made smaller keeps most of its room for the terminal. */
export const sideWidth = computed(() =>
  railShown.value ? RAIL_WIDTH : `min(${prefs.value.sidebarWidth}px, 40vw)`,
);

export function toggleSidebar(): void {
  change({ sessionList: sidebarShown.value ? "tabs" : "sidebar" });
}

export const filter = signal("");

/** Folders whose sessions are folded away. */
export const folded = signal<ReadonlySet<string>>(new Set());

export function toggleFolded(folder: string): void {
  const next = new Set(folded.peek());
  if (!next.delete(folder)) next.add(folder);
  folded.value = next;
}

/** The pointer rests on the list: nothing in it changes its place. */
export const pointed = signal(false);

let before: readonly string[] = [];
const needy = computed<readonly string[]>(() => {
  if (!pointed.value) before = [...sessionsNeedingPerson.value];
  return before;
});

/** All sessions, as the drawer lists them. */
export const allGroups = computed(() => groupSessions(sessions.value, needy.value));

const matches = (session: Session): boolean =>
  matchesFilter(
    session,
    cliOf(session.mode)?.label ?? session.mode,
    getCurrentStatus(session).state,
    filter.value,
  );

/** The groups at the side; a rail has no filter. */
export const sideGroups = computed(() =>
  railShown.value || filter.value.trim() === ""
    ? allGroups.value
    : groupSessions(sessions.value.filter(matches), needy.value),
);

export const isFolded = (folder: string): boolean => !railShown.value && folded.value.has(folder);

/** The sessions from the first to the last, as they are seen: at the side, in the drawer or as tabs. */
export const seenSessions = computed<readonly Session[]>(() => {
  if (!sidebarShown.value && !narrow.value) return sessions.value;
  const groups = sidebarShown.value ? sideGroups.value : allGroups.value;
  return groups.flatMap((group) =>
    sidebarShown.value && isFolded(group.folder) ? [] : group.sessions.map(({ session }) => session),
  );
});

/** Digits lead to so many sessions. */
const NUMBERED = 9;

/** The digit that leads to each of the first sessions, with Alt. */
export const sessionNumbers = computed<ReadonlyMap<string, number>>(
  () => new Map(seenSessions.value.slice(0, NUMBERED).map(({ id }, at) => [id, at + 1])),
);
