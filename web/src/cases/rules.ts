/** What the folder picker offers and how it says it. */
import type { Session } from "../api/types.ts";
import { shortPath } from "../lib/format.ts";
import { table } from "../lib/table.ts";
import type { CaseResponse, CloneProgress, CloneStatusResponse, BrowsedFolderResponse } from "./types.ts";

/** A place that a session can work in. */
export interface Place {
  /** Of a case whose sessions run elsewhere: where that is. */
  elsewhere?: string;
  kind: "recent" | "case" | "repository";
  label: string;
  detail: string;
  path: string;
  caseName?: string;
  /** Why it cannot be chosen. */
  off?: string;
}

/** A case's name on the wire (protocol-cases). */
const NAME = /^[A-Za-z0-9_-]+$/;
export const NAME_MAX = 128;

/** @returns what is wrong with a name; nothing where it can be sent. */
export function nameProblem(name: string, cases: readonly CaseResponse[]): string | undefined {
  if (name === "") return undefined;
  if (!NAME.test(name)) return "Letters, digits, - and _ only.";
  if (name.length > NAME_MAX) return `${NAME_MAX} characters at most.`;
  const same = name.toLowerCase();
  return cases.some((each) => each.name.toLowerCase() === same) ? "There is a case of this name." : undefined;
}

/** The name that git itself would give a clone, as far as a case can have it. */
export function nameOfRepository(repository: string): string {
  const path = repository
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/i, "");
  const last = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(":")) + 1);
  return last
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, NAME_MAX);
}

const PHASES = table({
  connecting: "Connecting",
  counting: "Counting objects",
  compressing: "Compressing",
  receiving: "Receiving",
  resolving: "Resolving deltas",
  "checking-out": "Checking out",
});

export function cloneWords({ phase, percent }: CloneStatusResponse): string {
  const words = PHASES[phase] ?? phase;
  return percent === null ? `${words}…` : `${words}, ${Math.floor(percent)} %`;
}

export function progressed(
  cases: readonly CaseResponse[],
  { name, phase, percent }: CloneProgress,
): CaseResponse[] {
  return cases.map((each) => (each.name === name ? { ...each, cloning: { phase, percent } } : each));
}

const KINDS: Record<CaseResponse["location"], string> = {
  local: "case",
  linked: "linked",
  container: "in a container",
  remote: "on another host",
};

export function kindOf(each: CaseResponse): string {
  if (each.worktree) return `worktree · ${each.worktree.branch}`;
  return each.remote ? `on ${each.remote.hostId}` : KINDS[each.location];
}

/** Its sessions run elsewhere than on the service's machine, with the programs that are there. */
export const isElsewhere = ({ location }: CaseResponse): boolean =>
  location === "remote" || location === "container";

function offOf(each: CaseResponse): string | undefined {
  if (each.cloning) return cloneWords(each.cloning);
  return each.unreachable ? "does not answer" : undefined;
}

function placeOfCase(each: CaseResponse): Place {
  const off = offOf(each);
  return {
    kind: "case",
    label: each.name,
    detail: `${kindOf(each)} · ${shortPath(each.path)}`,
    path: each.path,
    caseName: each.name,
    ...(isElsewhere(each) && { elsewhere: kindOf(each) }),
    ...(off !== undefined && { off }),
  };
}

/** The folder's own name. */
const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1) || path;

function placeOfFolder(kind: Place["kind"], path: string): Place {
  return { kind, label: baseOf(path), detail: path, path };
}

/**
 * What was worked in last, the cases, and the repositories at home: each folder once, a case by its name.
 * @param recent folders, the last one first.
 */
export function placesOf(
  recent: readonly string[],
  cases: readonly CaseResponse[],
  folders: readonly BrowsedFolderResponse[],
): Place[] {
  // A folder of another machine is none of this one, though their paths be the same.
  const byPath = new Map(cases.flatMap((each) => (each.remote ? [] : [[each.path, each]])));
  const seen = new Set(recent);
  const used = recent.map((path): Place => {
    const found = byPath.get(path);
    return found ? { ...placeOfCase(found), kind: "recent" } : placeOfFolder("recent", path);
  });
  const named = cases.filter((each) => each.remote || !seen.has(each.path)).map(placeOfCase);
  const repositories = folders
    .filter((each) => each.isRepository && !seen.has(each.path) && !byPath.has(each.path))
    .map((each) => placeOfFolder("repository", each.path));
  return [...used, ...named, ...repositories];
}

/** Those that have every word of a search in them. */
export function matching(places: readonly Place[], words: string): Place[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return places.filter((place) => {
    const text = `${place.label} ${place.detail}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** The folders on the way to a path, each with its own path. */
export function stepsOf(path: string): { name: string; path: string }[] {
  const names = path.split("/").filter(Boolean);
  const steps = names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join("/")}` }));
  return [{ name: "/", path: "/" }, ...steps];
}

/** The path of what has a name in a folder. */
export function inside(folder: string, name: string): string {
  return `${folder === "/" ? "" : folder}/${name}`;
}

/** What becomes of a case that is removed, in words (protocol-cases). */
export function consequences(each: CaseResponse): string {
  if (each.worktree)
    return `The worktree ${each.path} is removed with all that is in it. The branch ${each.worktree.branch} stays in ${each.worktree.repository}.`;
  if (each.location === "local")
    return `The folder ${each.path} moves to the trash beside it, from where it can be taken back by hand for 7 days.`;
  if (each.location === "container")
    return `Its container is removed. The folder ${each.path} stays as it is.`;
  if (each.remote)
    return `Only the name is forgotten. The folder ${each.path} on ${each.remote.hostId} stays as it is.`;
  return `Only the name is forgotten. The folder ${each.path} stays as it is.`;
}

/** Why a case cannot be removed now. */
export function removalBar(each: CaseResponse): string | undefined {
  if (each.cloning) return "It is being cloned. Cancel the clone to be rid of it.";
  if (each.liveSessions === 0) return undefined;
  const word = each.liveSessions === 1 ? "A session works" : `${each.liveSessions} sessions work`;
  return `${word} in it. Close ${each.liveSessions === 1 ? "it" : "them"} first.`;
}

/** Those that work in a case: by its name, or by its folder. */
export function sessionsIn(each: CaseResponse, sessions: readonly Session[]): Session[] {
  return sessions.filter(
    ({ caseName, workingDir, remote }) =>
      caseName === each.name ||
      (remote?.hostId === each.remote?.hostId &&
        (workingDir === each.path || workingDir.startsWith(`${each.path}/`))),
  );
}

/** The case that a session works in; of nested ones the innermost. */
export function caseOf(session: Session, cases: readonly CaseResponse[]): CaseResponse | undefined {
  const fitting = cases.filter((each) => sessionsIn(each, [session]).length > 0);
  const named = fitting.find((each) => each.name === session.caseName);
  return named ?? fitting.toSorted((one, other) => other.path.length - one.path.length)[0];
}
