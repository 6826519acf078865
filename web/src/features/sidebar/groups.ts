/** The sessions by the folder they work in, children below their parents; above them those that need a person. */
import type { Session } from "../../api/types.ts";
import { table } from "../../lib/table.ts";
import { type DisplayState } from "../sessions/status.ts";

export interface NestedSession {
  session: Session;
  /** How many parents stand above it. */
  depth: number;
}

export interface Group {
  folder: string;
  /** The folder's last name, with as much before it as tells it from the others. */
  name: string;
  sessions: NestedSession[];
}

/** The group that stands above all folders; no folder is called so. */
export const NEEDS_YOU = "needs you";

/** A folder of another machine is none of this one, though their paths be the same. */
const folderOf = ({ remote, workingDir }: Session): string =>
  remote ? `${remote.hostId}:${workingDir}` : workingDir;

/**
 * Group the sessions.
 *
 * A session that another one made stands below that one, wherever it works, as long as its parent is
 * shown. One that needs a person stands in the first group instead; all others keep their places.
 *
 * @param needy sessions that need a person, in the order in which they are to be answered.
 */
export function groupSessions(sessions: readonly Session[], needy: readonly string[]): Group[] {
  const known = new Map(sessions.map((session) => [session.id, session]));
  const first = new Set(needy);
  const made = by(sessions, ({ parentSessionId }) =>
    parentSessionId != null && known.has(parentSessionId) ? parentSessionId : "",
  );
  const family = (session: Session, depth: number): NestedSession[] => {
    const stays = !first.has(session.id);
    const below = (made.get(session.id) ?? []).flatMap((child) => family(child, stays ? depth + 1 : depth));
    return stays ? [{ session, depth }, ...below] : below;
  };
  const folders = by(made.get("") ?? [], folderOf);
  const names = shortNames([...folders.keys()]);
  const asking = needy.flatMap((id) => known.get(id) ?? []);
  const groups = [...folders].map(([folder, roots]) => ({
    folder,
    name: names.get(folder) ?? folder,
    sessions: roots.flatMap((root) => family(root, 0)),
  }));
  return [
    { folder: NEEDS_YOU, name: "Needs you", sessions: asking.map((session) => ({ session, depth: 0 })) },
    ...groups,
  ].filter((group) => group.sessions.length > 0);
}

function by<T>(list: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const one of list) {
    const known = found.get(key(one));
    if (known) known.push(one);
    else found.set(key(one), [one]);
  }
  return found;
}

const DEEPEST = 4;

/** Of each path so many last parts that no other ends alike; at most four. */
function shortNames(paths: readonly string[]): Map<string, string> {
  const tail = (path: string, parts: number) =>
    path.split("/").filter(Boolean).slice(-parts).join("/") || "/";
  const lone = (path: string, parts: number) =>
    paths.every((other) => other === path || tail(other, parts) !== tail(path, parts));
  return new Map(
    paths.map((path) => {
      let parts = 1;
      while (parts < DEEPEST && !lone(path, parts)) parts++;
      return [path, tail(path, parts)];
    }),
  );
}

/** By what words people look for a state. */
const STATE_WORDS: Readonly<Record<string, readonly string[]>> = table({
  attention: ["needs", "blocked", "waiting", "waits", "asks", "attention"],
  busy: ["working", "busy", "running", "thinking"],
  done: ["done", "finished", "unseen"],
  idle: ["ready", "idle", "free"],
  ended: ["ended", "exited"],
  detached: ["detached"],
  stopped: ["stopped"],
  error: ["crashed", "crashing", "failed", "error"],
  paused: ["paused", "limit"],
} satisfies Record<DisplayState, readonly string[]>);

/** With fewer letters too many states begin so. */
const STATE_LETTERS = 3;

/** Return whether a filter means a session: each word stands in its name, folder or agent, or begins its state. */
export function matchesFilter(session: Session, agent: string, state: DisplayState, filter: string): boolean {
  const text = `${session.name} ${session.workingDir} ${agent}`.toLowerCase();
  const states = STATE_WORDS[state] ?? [];
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every(
      (word) =>
        text.includes(word) || (word.length >= STATE_LETTERS && states.some((each) => each.startsWith(word))),
    );
}

/** Two letters that stand for a name where there is room for no more. */
export function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const [first = "", second] = words;
  const letters = second === undefined ? [...first].slice(0, 2) : [[...first][0], [...second][0]];
  return letters.join("").toUpperCase() || "?";
}

/** How long a turn has gone on: `40 s`, `12 min`, `3 h`. */
export function formatSpan(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
