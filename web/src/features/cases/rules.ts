/** What the folder picker offers and how it says it. */
import type { Session } from "../../api/types.ts";
import { shortenPath } from "../../lib/format.ts";
import { table } from "../../lib/table.ts";
import type { CaseResponse, CloneStatusResponse, BrowsedFolderResponse } from "../../api/types.ts";

/** `case:cloneProgress`. */
export interface CloneProgress extends CloneStatusResponse {
  name: string;
}

/** A place that a session can work in. */
export interface FolderChoice {
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
export function validateCaseName(name: string, cases: readonly CaseResponse[]): string | undefined {
  if (name === "") return undefined;
  if (!NAME.test(name)) return "Use only letters, digits, - and _.";
  if (name.length > NAME_MAX) return `Use at most ${NAME_MAX} characters.`;
  const same = name.toLowerCase();
  return cases.some((each) => each.name.toLowerCase() === same)
    ? "A workspace with this name already exists."
    : undefined;
}

/** The name that git itself would give a clone, as far as a case can have it. */
export function suggestCaseName(repository: string): string {
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

export function formatCloneProgress({ phase, percent }: CloneStatusResponse): string {
  const words = PHASES[phase] ?? phase;
  return percent === null ? `${words}…` : `${words}, ${Math.floor(percent)} %`;
}

export function applyCloneProgress(
  cases: readonly CaseResponse[],
  { name, phase, percent }: CloneProgress,
): CaseResponse[] {
  return cases.map((each) => (each.name === name ? { ...each, cloning: { phase, percent } } : each));
}

const KINDS: Record<CaseResponse["location"], string> = {
  local: "workspace",
  linked: "linked",
  container: "in a container",
  remote: "on a remote host",
};

export function describeCaseKind(each: CaseResponse): string {
  if (each.worktree) return `worktree · ${each.worktree.branch}`;
  return each.remote ? `on ${each.remote.hostId}` : KINDS[each.location];
}

/** Its sessions run elsewhere than on the service's machine, with the programs that are there. */
export const runsElsewhere = ({ location }: CaseResponse): boolean =>
  location === "remote" || location === "container";

function explainUnavailable(each: CaseResponse): string | undefined {
  if (each.cloning) return formatCloneProgress(each.cloning);
  return each.unreachable ? "not responding" : undefined;
}

function placeOfCase(each: CaseResponse): FolderChoice {
  const off = explainUnavailable(each);
  return {
    kind: "case",
    label: each.name,
    detail: `${describeCaseKind(each)} · ${shortenPath(each.path)}`,
    path: each.path,
    caseName: each.name,
    ...(runsElsewhere(each) && { elsewhere: describeCaseKind(each) }),
    ...(off !== undefined && { off }),
  };
}

/** The folder's own name. */
const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1) || path;

function placeOfFolder(kind: FolderChoice["kind"], path: string): FolderChoice {
  return { kind, label: baseOf(path), detail: path, path };
}

/**
 * What was worked in last, the cases, and the repositories at home: each folder once, a case by its name.
 * @param recent folders, the last one first.
 */
export function listFolderChoices(
  recent: readonly string[],
  cases: readonly CaseResponse[],
  folders: readonly BrowsedFolderResponse[],
): FolderChoice[] {
  // A folder of another machine is none of this one, though their paths be the same.
  const byPath = new Map(cases.flatMap((each) => (each.remote ? [] : [[each.path, each]])));
  const seen = new Set(recent);
  const used = recent.map((path): FolderChoice => {
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
export function filterFolderChoices(places: readonly FolderChoice[], words: string): FolderChoice[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return places.filter((place) => {
    const text = `${place.label} ${place.detail}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** The folders on the way to a path, each with its own path. */
export function splitPath(path: string): { name: string; path: string }[] {
  const names = path.split("/").filter(Boolean);
  const steps = names.map((name, at) => ({ name, path: `/${names.slice(0, at + 1).join("/")}` }));
  return [{ name: "/", path: "/" }, ...steps];
}

/** The path of what has a name in a folder. */
export function joinPath(folder: string, name: string): string {
  return `${folder === "/" ? "" : folder}/${name}`;
}

/** What becomes of a case that is removed, in words (protocol-cases). */
export function describeRemoval(each: CaseResponse): string {
  if (each.worktree)
    return `This deletes the worktree ${each.path} and everything in it. The branch ${each.worktree.branch} stays in ${each.worktree.repository}.`;
  if (each.location === "local")
    return `The folder ${each.path} moves to the trash folder next to it. You can move it back by hand for 7 days.`;
  if (each.location === "container")
    return `This removes its container. The folder ${each.path} is not changed.`;
  if (each.remote)
    return `This removes only the name. The folder ${each.path} on ${each.remote.hostId} is not changed.`;
  return `This removes only the name. The folder ${each.path} is not changed.`;
}

/** Why a case cannot be removed now. */
export function explainRemovalBlock(each: CaseResponse): string | undefined {
  if (each.cloning) return "Cancel the clone first.";
  if (each.liveSessions === 0) return undefined;
  return `Close its ${each.liveSessions === 1 ? "session" : `${each.liveSessions} sessions`} first.`;
}

/** Those that work in a case: by its name, or by its folder. */
export function findSessionsInCase(each: CaseResponse, sessions: readonly Session[]): Session[] {
  return sessions.filter(
    ({ caseName, workingDir, remote }) =>
      caseName === each.name ||
      (remote?.hostId === each.remote?.hostId &&
        (workingDir === each.path || workingDir.startsWith(`${each.path}/`))),
  );
}

/** The case that a session works in; of nested ones the innermost. */
export function findCaseOfSession(
  session: Session,
  cases: readonly CaseResponse[],
): CaseResponse | undefined {
  const fitting = cases.filter((each) => findSessionsInCase(each, [session]).length > 0);
  const named = fitting.find((each) => each.name === session.caseName);
  return named ?? fitting.toSorted((one, other) => other.path.length - one.path.length)[0];
}
