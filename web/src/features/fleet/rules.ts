/** Rules of the fleet: what a row says, where it stands, what is shown of all. */
import type { Session } from "../../api/types.ts";
import { formatAgo } from "../../lib/ago.ts";
import type { StatusDescription } from "../agents/statusdescription.ts";
import { formatAge } from "../approvals/cardtexts.ts";
import { type DisplayState, getWorkStart } from "../sessions/status.ts";
import { formatSpan } from "../sidebar/groups.ts";

/** The columns of a wide screen, from left to right. */
export const STATE_GROUPS = [
  ["attention", "Needs you"],
  ["busy", "Working"],
  ["idle", "Ready"],
  ["ended", "Not running"],
] as const;

export type StateGroup = (typeof STATE_GROUPS)[number][0];

const GROUP_OF: Record<DisplayState, StateGroup> = {
  attention: "attention",
  busy: "busy",
  paused: "busy",
  done: "idle",
  idle: "idle",
  ended: "ended",
  detached: "ended",
  stopped: "ended",
  error: "ended",
};

export const getStateGroup = (state: DisplayState): StateGroup => GROUP_OF[state];

export const GROUPINGS = [
  ["state", "State"],
  ["folder", "Folder"],
  ["agent", "Agent"],
] as const;

export type Grouping = (typeof GROUPINGS)[number][0];

export interface View {
  grouping: Grouping;
  /** Empty: all. */
  words: string;
  state: StateGroup | "";
  folder: string;
  agent: string;
}

export const ALL: View = { grouping: "state", words: "", state: "", folder: "", agent: "" };

/** Only how the list is arranged is kept: a filter of yesterday would hide who waits today. */
export function parseGrouping(text: string | null): Grouping {
  return GROUPINGS.find(([name]) => name === text)?.[0] ?? "state";
}

/** A session with what the rules need of it. */
export interface Entry {
  session: Session;
  status: StatusDescription;
  /** The agent's name. */
  agent: string;
}

function matches({ session, status, agent }: Entry, view: View): boolean {
  if (view.state !== "" && getStateGroup(status.state) !== view.state) return false;
  if (view.folder !== "" && session.workingDir !== view.folder) return false;
  if (view.agent !== "" && agent !== view.agent) return false;
  const text = `${session.name} ${session.workingDir} ${agent} ${status.word} ${status.reason ?? ""}`;
  return view.words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}

/** Where a session stands. */
export interface Place {
  id: string;
  group: string;
}

const RANKS: DisplayState[] = ["attention", "done", "busy", "paused", "idle", "error"];
const rankOf = (state: DisplayState): number =>
  (RANKS.indexOf(state) + RANKS.length + 1) % (RANKS.length + 1);

function groupOf({ session, status, agent }: Entry, grouping: Grouping): string {
  if (grouping === "folder") return session.workingDir;
  return grouping === "agent" ? agent : getStateGroup(status.state);
}

/** Whoever waits, for longest first; others that were active last first. */
function compareEntries(a: Entry, b: Entry): number {
  const [one, other] = [rankOf(a.status.state), rankOf(b.status.state)];
  if (one !== other) return one - other;
  const newer = b.session.lastActivityAt - a.session.lastActivityAt;
  return one === 0 ? -newer : newer;
}

/** The places of those that a view shows. */
export function arrange(entries: readonly Entry[], view: View): Place[] {
  return entries
    .filter((entry) => matches(entry, view))
    .toSorted(compareEntries)
    .map((entry) => ({ id: entry.session.id, group: groupOf(entry, view.grouping) }));
}

/**
 * The places while nothing may move under the pointer: those that are shown stay, new ones come last.
 * @param alive whether a session is still there.
 */
export function holdArrangement(
  before: readonly Place[],
  now: readonly Place[],
  alive: (id: string) => boolean,
): Place[] {
  const known = new Set(before.map(({ id }) => id));
  return [...before.filter(({ id }) => alive(id)), ...now.filter(({ id }) => !known.has(id))];
}

export interface Group {
  id: string;
  name: string;
  places: Place[];
}

/** The groups that are not empty: those of states in their own order, others by their first session. */
export function listGroups(places: readonly Place[], grouping: Grouping): Group[] {
  const names = new Map<string, string>(grouping === "state" ? STATE_GROUPS : []);
  const ids = [...names.keys(), ...places.map(({ group }) => group)];
  return [...new Set(ids)]
    .map((id) => ({ id, name: names.get(id) ?? id, places: places.filter(({ group }) => group === id) }))
    .filter((group) => group.places.length > 0);
}

/** What runs: the agent's task or its last sentence; what a shell runs, or how that ended. */
export function describeWork({ session, status }: Entry, now: number): string {
  const { state, reason, word } = status;
  if (state === "busy" && session.foreground)
    return `${session.foreground.name} · ${formatSpan(session.foreground.since, now)}`;
  if (state === "busy")
    return session.currentTask ?? session.currentTool ?? session.lastAnswer ?? reason ?? word;
  if (state === "idle" || state === "done") return reason ?? session.lastAnswer ?? word;
  return reason ?? word;
}

/** How long a question waits, or a turn has gone on; of others, how long ago anything happened. */
export function describeAge({ session, status }: Entry, now: number, askedAt?: number): string {
  if (askedAt !== undefined) return formatAge(askedAt, now);
  const since = getWorkStart(session);
  if (status.state === "busy" && since !== undefined) return formatSpan(since, now);
  return formatAgo(session.lastActivityAt, now).replace(/^just | ago$/, "");
}

export function formatCost({ totalCost, costUnknown }: Session): string {
  if (costUnknown) return "$?";
  return totalCost > 0 ? `$${totalCost.toFixed(2)}` : "";
}
