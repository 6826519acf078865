/** The sessions by the folder they work in, children below their parents, those that wait for a person first. */
import type { Session } from "../../api/types.ts";

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

/** A folder of another machine is none of this one, though their paths be the same. */
const folderOf = ({ remote, workingDir }: Session): string =>
  remote ? `${remote.hostId}:${workingDir}` : workingDir;

/**
 * A session that another one made stands below that one, wherever it works, as long as its parent is shown.
 *
 * @param needy whether a session waits for a person.
 */
export function groupSessions(sessions: readonly Session[], needy: (id: string) => boolean): Group[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const made = by(sessions, ({ parentSessionId }) =>
    parentSessionId != null && ids.has(parentSessionId) ? parentSessionId : "",
  );
  const below = (parent: string, depth: number): NestedSession[][] =>
    urgentFirst(
      (made.get(parent) ?? []).map((session) => [{ session, depth }, ...below(session.id, depth + 1).flat()]),
      (family) => family.some(({ session: { id } }) => needy(id)),
    );
  const folders = by(below("", 0), ([first]) => (first ? folderOf(first.session) : ""));
  const names = shortNames([...folders.keys()]);
  return urgentFirst(
    [...folders].map(([folder, families]) => ({
      folder,
      name: names.get(folder) ?? folder,
      sessions: families.flat(),
    })),
    (group) => group.sessions.some(({ session: { id } }) => needy(id)),
  );
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

function urgentFirst<T>(list: readonly T[], urgent: (one: T) => boolean): T[] {
  return list.toSorted((a, b) => Number(urgent(b)) - Number(urgent(a)));
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

/** Whether a filter means a session: each word stands in its name, folder or agent. */
export function matchesFilter(session: Session, agent: string, filter: string): boolean {
  const text = `${session.name} ${session.workingDir} ${agent}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** How long a turn has gone on: `40 s`, `12 min`, `3 h`. */
export function formatSpan(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
