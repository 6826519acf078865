/** A workspace's state in a few figures, for the badge. */
import { plural } from "../../lib/format.ts";
import type { ChangeCountsResponse, GitStatusResponse } from "../../api/types.ts";
import type { ReadState } from "./texts.ts";

export interface Summary {
  /** A branch, a commit, or how many repositories. */
  head: string;
  detached: boolean;
  ahead: number;
  behind: number;
  counts: ChangeCountsResponse;
  /** Why there are no figures, or not all. */
  trouble?: string;
}

const NONE: ChangeCountsResponse = {
  staged: 0,
  unstaged: 0,
  untracked: 0,
  conflicted: 0,
  uncommitted: 0,
  stashes: 0,
};

/** A commit's number as people quote it. */
export const shortHash = (hash: string): string => hash.slice(0, 7);

/** @returns the branch, or the commit of a detached head. */
export function describeHead(status: ReadState): string {
  return status.branch ?? (status.commit ? shortHash(status.commit) : "no commit");
}

function add(one: ChangeCountsResponse, other: ChangeCountsResponse): ChangeCountsResponse {
  const names = Object.keys(NONE) as (keyof ChangeCountsResponse)[];
  return Object.fromEntries(
    names.map((name) => [name, one[name] + other[name]]),
  ) as unknown as ChangeCountsResponse;
}

function several(read: readonly ReadState[], all: number, trouble: string | undefined): Summary {
  return {
    head: plural(all, "repository", "repositories"),
    detached: false,
    ahead: read.reduce((sum, each) => sum + each.ahead, 0),
    behind: read.reduce((sum, each) => sum + each.behind, 0),
    counts: read.reduce((sum, each) => add(sum, each.counts), NONE),
    ...(trouble !== undefined && { trouble }),
  };
}

/** @returns undefined where there is nothing to show: no repository, or none that is looked at. */
export function summarizeStatus(status: GitStatusResponse): Summary | undefined {
  if (status.state === "error")
    return { head: "git", detached: false, ahead: 0, behind: 0, counts: NONE, trouble: status.error ?? "" };
  if (status.state !== "ok" || status.repos.length === 0) return undefined;
  const states = status.repos.map((repo) => repo.status);
  const read = states.filter((each) => each.state === "ok");
  const trouble = states.find((each) => each.state === "error")?.error;
  const [only] = read;
  if (states.length > 1 || only === undefined) return several(read, states.length, trouble);
  const { ahead, behind, counts } = only;
  return { head: describeHead(only), detached: only.detached, ahead, behind, counts };
}

/** The figures that are not zero, each with its mark and its word. */
export function listFigures({
  counts,
}: Summary): { mark: string; count: number; word: string; kind: string }[] {
  const all = [
    { mark: "!", count: counts.conflicted, word: plural(counts.conflicted, "conflict"), kind: "conflicted" },
    { mark: "+", count: counts.staged, word: `${counts.staged} staged`, kind: "staged" },
    { mark: "~", count: counts.unstaged, word: `${counts.unstaged} changed`, kind: "unstaged" },
    { mark: "?", count: counts.untracked, word: `${counts.untracked} untracked`, kind: "untracked" },
  ];
  return all.filter((each) => each.count > 0);
}

/** The badge in words: its label and its hover text. */
export function formatSummary(summary: Summary): string {
  const parts = [summary.detached ? `detached at ${summary.head}` : summary.head];
  if (summary.ahead > 0) parts.push(`${summary.ahead} ahead`);
  if (summary.behind > 0) parts.push(`${summary.behind} behind`);
  const found = listFigures(summary).map((each) => each.word);
  if (summary.trouble !== undefined) parts.push(summary.trouble);
  else if (found.length === 0) parts.push("nothing to commit");
  if (summary.counts.stashes > 0) found.push(plural(summary.counts.stashes, "stash", "stashes"));
  return `Git: ${[...parts, ...found].join(", ")}`;
}
