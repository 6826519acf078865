import { describe, expect, test } from "vitest";
import type { GitStatusResponse, RepositoryResponse } from "../../api/types.ts";
import {
  explainAbsence,
  formatAge,
  hasDiff,
  isTimeout,
  getChangeLetter,
  splitPath,
  describeTracking,
  getChangeLabel,
  type FileChange,
  type ReadState,
} from "./texts.ts";
import { listFigures, formatSummary, summarizeStatus } from "./summary.ts";
import { stepOf } from "./diff/diff.ts";

const COUNTS = { staged: 0, unstaged: 0, untracked: 0, conflicted: 0, uncommitted: 0, stashes: 0 };

const read = (part: Partial<ReadState> = {}): ReadState => ({
  state: "ok",
  branch: "main",
  detached: false,
  commit: "0123456789abcdef",
  upstream: "origin/main",
  ahead: 0,
  behind: 0,
  hasRemote: true,
  upstreamGone: false,
  counts: COUNTS,
  files: [],
  filesTruncated: false,
  unpushedCount: 0,
  unpushed: [],
  repoRoot: "/w",
  checkedAt: 1,
  ...part,
});

const repository = (status: RepositoryResponse["status"], name = "w"): RepositoryResponse => ({
  name,
  path: ".",
  status,
});

const status = (...repos: RepositoryResponse[]): GitStatusResponse => ({
  state: "ok",
  repos,
  reposTruncated: false,
  checkedAt: 1,
});

const said = (found: GitStatusResponse) => {
  const summary = summarizeStatus(found);
  return summary && formatSummary(summary);
};

describe("the badge", () => {
  test("says branch, distance and what is uncommitted", () => {
    const counts = {
      ...COUNTS,
      staged: 2,
      unstaged: 1,
      untracked: 3,
      conflicted: 1,
      uncommitted: 6,
      stashes: 1,
    };
    const found = status(repository(read({ ahead: 3, behind: 2, counts })));
    expect(said(found)).toBe(
      "Git: main, 3 ahead, 2 behind, 1 conflict, 2 staged, 1 changed, 3 untracked, 1 stash",
    );
    const summary = summarizeStatus(found);
    expect(summary && listFigures(summary).map(({ mark, count }) => `${mark}${count}`)).toEqual([
      "!1",
      "+2",
      "~1",
      "?3",
    ]);
  });

  test("names the commit of a detached head, and a branch without any", () => {
    expect(said(status(repository(read({ branch: null, detached: true }))))).toBe(
      "Git: detached at 0123456, nothing to commit",
    );
    expect(
      summarizeStatus(status(repository(read({ branch: null, detached: true, commit: null }))))?.head,
    ).toBe("no commit");
  });

  test("adds up several repositories and tells of one that cannot be read", () => {
    const busy = read({ ahead: 1, counts: { ...COUNTS, unstaged: 2, uncommitted: 2 } });
    const bad = { state: "error" as const, error: "bad config", repoRoot: "/b", checkedAt: 1 };
    const found = status(repository(busy), repository(busy), repository(bad));
    expect(said(found)).toBe("Git: 3 repositories, 2 ahead, bad config, 4 changed");
    expect(summarizeStatus(found)?.counts.uncommitted).toBe(4);
  });

  test.each([
    [{ ...status(), state: "not-a-repo" } as GitStatusResponse, undefined],
    [{ ...status(), state: "unsupported", reason: "remote" } as GitStatusResponse, undefined],
    [
      { ...status(), state: "error", error: "git timed out after 30 s" } as GitStatusResponse,
      "Git: git, git timed out after 30 s",
    ],
  ])("is absent where nothing is looked at", (found, text) => {
    expect(said(found)).toBe(text);
  });
});

describe("words", () => {
  const file = (part: Partial<FileChange>): FileChange => ({
    path: "a/b",
    index: ".",
    worktree: "M",
    kind: "unstaged",
    ...part,
  });

  test("a file's letter is the one of its group", () => {
    const both = { index: "A", worktree: "M" };
    expect([getChangeLetter(file(both)), getChangeLetter(file({ ...both, kind: "staged" }))]).toEqual([
      "M",
      "A",
    ]);
    expect([getChangeLabel(file({ kind: "conflicted" })), getChangeLabel(file({ worktree: "X" }))]).toEqual([
      "in conflict",
      "changed",
    ]);
  });

  test("a path is its folder and its name; an untracked folder has no diff", () => {
    expect([splitPath("a/b/c.txt"), splitPath("ud/"), splitPath("x/ud/")]).toEqual([
      { folder: "a/b/", name: "c.txt" },
      { folder: "", name: "ud/" },
      { folder: "x/", name: "ud/" },
    ]);
    expect([hasDiff(file({})), hasDiff(file({ path: "ud/" }))]).toEqual([true, false]);
  });

  test.each([
    [{}, "up to date with origin/main"],
    [{ ahead: 2 }, "2 ahead of origin/main"],
    [{ behind: 1 }, "1 behind origin/main"],
    [{ ahead: 2, behind: 1 }, "2 ahead of and 1 behind origin/main"],
    [{ upstreamGone: true }, "origin/main was deleted"],
    [{ upstream: null }, "no upstream"],
    [{ upstream: null, hasRemote: false }, "no remote"],
  ])("where a branch stands: %o", (part, text) => {
    expect(describeTracking(read(part))).toBe(text);
  });

  test("why there is nothing", () => {
    expect(explainAbsence({ ...status(), state: "not-a-repo" })).toContain("not a git repository");
    expect(explainAbsence({ ...status(), state: "unsupported", reason: "docker" })).toContain("container");
    expect(explainAbsence({ ...status(), state: "unsupported" })).toContain("not available");
    expect(explainAbsence(status())).toBeUndefined();
    expect([isTimeout("git timed out after 30 s"), isTimeout("fatal: bad")]).toEqual([true, false]);
  });

  test("how long ago", () => {
    const minute = 60_000;
    expect([0, 5, 61, 47 * 60].map((minutes) => formatAge(0, minutes * minute))).toEqual([
      "just now",
      "5 min ago",
      "1 h ago",
      "1 day ago",
    ]);
  });

  test("the arrows stay among the files", () => {
    expect([stepOf("ArrowDown", 0, 3), stepOf("ArrowDown", 2, 3), stepOf("ArrowUp", 0, 3)]).toEqual([
      1, 2, 0,
    ]);
    expect([stepOf("Home", 2, 3), stepOf("End", 0, 3), stepOf("Enter", 0, 3)]).toEqual([0, 2, undefined]);
  });
});
