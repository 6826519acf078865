/** Records of the git routes (protocol-git-status). */

export type Kind = "conflicted" | "staged" | "unstaged" | "untracked";

export interface Counts {
  staged: number;
  unstaged: number;
  untracked: number;
  conflicted: number;
  /** Distinct paths: a file may be staged and unstaged. */
  uncommitted: number;
  stashes: number;
}

export interface FileChange {
  path: string;
  origPath?: string;
  /** Letters of `git status --porcelain=v2`; `.` is unchanged. */
  index: string;
  worktree: string;
  kind: Kind;
}

export interface Commit {
  hash: string;
  author: string;
  /** Epoch seconds. */
  time: number;
  subject: string;
}

export interface ReadState {
  state: "ok";
  branch: string | null;
  detached: boolean;
  /** Where HEAD is; null before the first commit. */
  commit: string | null;
  upstream: string | null;
  ahead: number;
  behind: number;
  hasRemote: boolean;
  upstreamGone: boolean;
  counts: Counts;
  files: FileChange[];
  filesTruncated: boolean;
  unpushedCount: number;
  unpushed: Commit[];
  repoRoot: string;
  checkedAt: number;
}

export interface FailedState {
  state: "error";
  error: string;
  repoRoot: string;
  checkedAt: number;
}

export interface Repository {
  name: string;
  /** Its root from the working directory. */
  path: string;
  status: ReadState | FailedState;
}

export interface GitStatus {
  state: "ok" | "not-a-repo" | "unsupported" | "error";
  reason?: "remote" | "docker";
  error?: string;
  repos: Repository[];
  reposTruncated: boolean;
  repoLimit?: number;
  checkedAt: number;
}

export interface Diff {
  diff: string;
  truncated: boolean;
  binary: boolean;
}

/** One file of one repository, as the diff route asks for it. */
export interface Chosen {
  repo: string;
  path: string;
  kind: Kind;
}
