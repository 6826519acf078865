/** Git's letters and states in words. */
import type {
  ChangedFileResponse as FileChange,
  GitStatusResponse,
  RepositoryStateResponse as ReadState,
} from "../../api/types.ts";
import { plural } from "../../lib/format.ts";
import { table } from "../../lib/table.ts";

export type { FileChange, ReadState };
export type Kind = FileChange["kind"];

/** One file of one repository, as the diff route asks for it. */
export interface Chosen {
  repo: string;
  path: string;
  kind: Kind;
}

export const KINDS: readonly [Kind, string][] = [
  ["conflicted", "Conflicts"],
  ["staged", "Staged"],
  ["unstaged", "Changed"],
  ["untracked", "Untracked"],
];

const LETTERS: Record<string, string> = table({
  M: "modified",
  A: "added",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type changed",
  U: "in conflict",
  "?": "untracked",
});

/** The letter that stands for a file in its group. */
export function getChangeLetter(file: FileChange): string {
  if (file.kind === "untracked") return "?";
  if (file.kind === "conflicted") return "U";
  return file.kind === "staged" ? file.index : file.worktree;
}

export const getChangeLabel = (file: FileChange): string => LETTERS[getChangeLetter(file)] ?? "changed";

/** The folder, with its slash, and the name: the name must stay when space is short. */
export function splitPath(path: string): { folder: string; name: string } {
  const at = path.lastIndexOf("/", path.length - 2) + 1;
  return { folder: path.slice(0, at), name: path.slice(at) };
}

/** An untracked folder is one row without a diff (protocol-git-status). */
export const hasDiff = (file: FileChange): boolean => !file.path.endsWith("/");

const UNSUPPORTED: Record<string, string> = table({
  remote: "This session runs on a remote host. Its changes are not shown here.",
  docker: "This session runs in a container. Its changes are not shown here.",
});

/** Why there is no repository to show. */
export function explainAbsence(status: GitStatusResponse): string | undefined {
  if (status.state === "not-a-repo") return "This session's folder is not a git repository.";
  if (status.state === "unsupported")
    return UNSUPPORTED[status.reason ?? ""] ?? "Changes are not available for this session.";
  return undefined;
}

/** Where a branch stands against its upstream. */
export function describeTracking(status: ReadState): string {
  if (status.upstreamGone) return `${status.upstream} was deleted`;
  if (!status.upstream) return status.hasRemote ? "no upstream" : "no remote";
  const { ahead, behind, upstream } = status;
  if (ahead > 0 && behind > 0) return `${ahead} ahead of and ${behind} behind ${upstream}`;
  if (ahead > 0) return `${ahead} ahead of ${upstream}`;
  return behind > 0 ? `${behind} behind ${upstream}` : `up to date with ${upstream}`;
}

/** Seconds that one git command may run at most (protocol-git-status). */
export const LONGEST_TIMEOUT = 120;

/** A slow repository may answer with more time. */
export const isTimeout = (problem: string): boolean => /timed out/i.test(problem);

/** How long ago, in one unit. */
export function formatAge(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  return `${plural(Math.floor(hours / 24), "day")} ago`;
}
