/** The tree as rows, what a filter finds in it, and the git state of each file. */
import { table } from "../../lib/table.ts";
import type { GitStatusResponse } from "../../api/types.ts";
import { type FileChange, getChangeLetter, getChangeLabel } from "../git/texts.ts";
import { relativePath } from "./relativepath.ts";
import type { Entry } from "./state.ts";

export const ROOT = ".";

export interface Row {
  entry: Entry;
  level: number;
  /** Undefined for what is no folder. */
  open?: boolean;
}

/** Rows that a filter shows; whoever needs more types more. */
const FOUND_MAX = 200;

const isFolder = (entry: Entry): boolean => entry.type === "dir";

/** Folders that are open and were read, in place; one that is still read has no rows yet. */
export function listRows(
  folders: ReadonlyMap<string, readonly Entry[]>,
  open: ReadonlySet<string>,
  path = ROOT,
  level = 1,
): Row[] {
  return (folders.get(path) ?? []).flatMap((entry): Row[] => {
    if (!isFolder(entry)) return [{ entry, level }];
    const isOpen = open.has(entry.path);
    const inside = isOpen ? listRows(folders, open, entry.path, level + 1) : [];
    return [{ entry, level, open: isOpen }, ...inside];
  });
}

function* walk(entries: readonly Entry[]): Generator<Entry> {
  for (const entry of entries) {
    if (entry.type !== "dir") yield entry;
    if (entry.children) yield* walk(entry.children);
  }
}

/** How well a path fits: its name first, then the whole of it. Undefined where it does not. */
function rank(path: string, words: readonly string[]): number | undefined {
  const whole = path.toLowerCase();
  if (!words.every((word) => whole.includes(word))) return undefined;
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  const first = words[0] ?? "";
  if (name.startsWith(first)) return 0;
  return name.includes(first) ? 1 : 2;
}

/** Files of a deep tree whose paths have every word, the best first. */
export function searchTree(tree: readonly Entry[], typed: string, most = FOUND_MAX): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked: [number, Entry][] = [];
  for (const entry of walk(tree)) {
    const at = rank(entry.path, words);
    if (at !== undefined) ranked.push([at, entry]);
  }
  return ranked
    .toSorted(([a, one], [b, other]) => a - b || one.path.length - other.path.length)
    .slice(0, most)
    .map(([, entry]) => entry);
}

export interface Mark {
  letter: string;
  word: string;
  kind: string;
}

const INSIDE: Mark = { letter: "•", word: "changes inside", kind: "unstaged" };
/** What stays where a file is in several groups: the worst. */
const WEIGHT: Record<string, number> = table({ conflicted: 3, unstaged: 2, untracked: 1, staged: 0 });

const weight = (kind: string): number => WEIGHT[kind] ?? 0;

function markFile(marks: Map<string, Mark>, path: string, file: FileChange): void {
  const before = marks.get(path);
  if (before && before.letter !== INSIDE.letter && weight(before.kind) >= weight(file.kind)) return;
  marks.set(path, { letter: getChangeLetter(file), word: getChangeLabel(file), kind: file.kind });
}

function markFolders(marks: Map<string, Mark>, path: string): void {
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    const folder = path.slice(0, at);
    if (marks.has(folder)) return;
    marks.set(folder, INSIDE);
  }
}

/**
 * The git state by path from the workspace's root, folders with changes inside among them.
 * @param root the workspace, absolute.
 */
export function collectMarks(status: GitStatusResponse | undefined, root: string): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { status: state } of status?.repos ?? []) {
    if (state.state !== "ok") continue;
    for (const file of state.files) {
      const path = relativePath(`${state.repoRoot}/${file.path}`.replace(/\/$/, ""), root);
      if (path === undefined) continue;
      markFile(marks, path, file);
      markFolders(marks, path);
    }
  }
  return marks;
}

/** A path's own state, or that of the untracked folder that it is in. */
export function getMark(marks: ReadonlyMap<string, Mark>, path: string): Mark | undefined {
  for (let at = path.length; at > 0; at = path.lastIndexOf("/", at - 1)) {
    const found = marks.get(path.slice(0, at));
    if (found && (at === path.length || found.kind === "untracked")) return found;
  }
  return undefined;
}
