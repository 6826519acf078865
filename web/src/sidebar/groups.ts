/** The sessions by the folder they work in, those that wait for a person first. */
import type { Session } from "../api/types.ts";

export interface Group {
  folder: string;
  /** The folder's last name, with as much before it as tells it from the others. */
  name: string;
  sessions: Session[];
}

/** @param needy whether a session waits for a person. */
export function grouped(sessions: readonly Session[], needy: (id: string) => boolean): Group[] {
  const folders = new Map<string, Session[]>();
  for (const session of sessions) {
    const known = folders.get(session.workingDir);
    if (known) known.push(session);
    else folders.set(session.workingDir, [session]);
  }
  const urgent = (list: readonly Session[]) => (list.some(({ id }) => needy(id)) ? 0 : 1);
  const names = shortNames([...folders.keys()]);
  return [...folders]
    .map(([folder, list]) => ({
      folder,
      name: names.get(folder) ?? folder,
      sessions: list.toSorted((a, b) => urgent([a]) - urgent([b])),
    }))
    .toSorted((a, b) => urgent(a.sessions) - urgent(b.sessions));
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
export function fits(session: Session, agent: string, filter: string): boolean {
  const text = `${session.name} ${session.workingDir} ${agent}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** How long a turn has gone on: `40 s`, `12 min`, `3 h`. */
export function spanText(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
