"""Records of repositories, their status and diffs, and their wire form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from attrs import evolve, field, frozen

MAX_FILES = 300
"""Files listed for one repository (protocol-git-status); the counts stay exact."""
MAX_COMMITS = 50
"""Unpushed commits listed for one repository (protocol-git-status)."""
DIFF_LIMIT = 400 * 1024
"""Bytes of a diff before it is cut short (protocol-git-diff)."""
ERROR_LIMIT = 300
"""Characters of an error's text (protocol-git-status)."""


class ChangeKind(StrEnum):
    """Kind of change to a file. One file may be both staged and unstaged."""

    CONFLICTED = "conflicted"
    STAGED = "staged"
    UNSTAGED = "unstaged"
    UNTRACKED = "untracked"


def to_display_text(raw: bytes) -> str:
    r"""Return a name as text: bytes that are not UTF-8 become C{\xNN}, so that JSON can hold it.

    Clients send the text back as a key.  If two names look the same, the first listed counts.
    """
    return raw.decode("utf-8", "backslashreplace")


@frozen(kw_only=True)
class GitRepository:
    """Paths of a repository; every path is absolute and free of symlinks.

    @ivar root: the top of its working tree.
    @ivar control: its own C{.git} folder; for a worktree, the one inside the main repository's.
    @ivar common: folder of configuration and shared references; C{control} except for worktrees.
    @ivar bare: it has no working tree; C{root} is C{control}.
    """

    root: bytes
    control: bytes
    common: bytes
    bare: bool = False

    @property
    def shown_root(self) -> str:
        """C{repoRoot} on the wire, which clients send back."""
        return to_display_text(self.root)

    @property
    def folder(self) -> str:
        """C{root} as text, for the check that it answers."""
        return os.fsdecode(self.root)

    def path_from(self, folder: bytes) -> str:
        """Return C{root} relative to C{folder}: C{.} at it, C{..} upwards (protocol-git-status)."""
        return to_display_text(os.path.relpath(self.root, folder))


@frozen(kw_only=True)
class FoundRepositories:
    """Repositories of a workspace.

    @ivar scanned: they were found below the workspace, not by walking up from it.
    @ivar more: the search stopped at its limit.
    """

    repositories: Sequence[GitRepository] = ()
    scanned: bool = False
    more: bool = False


@frozen(kw_only=True)
class FileChange:
    """Row of C{files[]}; paths are relative to the repository's root.

    @ivar index: the letter for HEAD against index; C{.} is unchanged.
    @ivar worktree: the letter for index against working tree.
    """

    path: bytes
    kind: ChangeKind
    index: str
    worktree: str
    original: bytes | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form."""
        shown: dict[str, Any] = {
            "path": to_display_text(self.path),
            "index": self.index,
            "worktree": self.worktree,
            "kind": self.kind.value,
        }
        if self.original is not None:
            shown["origPath"] = to_display_text(self.original)
        return shown


@frozen(kw_only=True)
class ChangeCounts:
    """Exact numbers; C{uncommitted} counts distinct paths."""

    staged: int = 0
    unstaged: int = 0
    untracked: int = 0
    conflicted: int = 0
    uncommitted: int = 0
    stashes: int = 0

    def to_wire(self) -> dict[str, int]:
        """Return the wire form."""
        return {
            "staged": self.staged,
            "unstaged": self.unstaged,
            "untracked": self.untracked,
            "conflicted": self.conflicted,
            "uncommitted": self.uncommitted,
            "stashes": self.stashes,
        }


@frozen(kw_only=True)
class BranchHead:
    """State of the branch, from C{git status --branch}.

    @ivar branch: C{None} if detached.
    @ivar unborn: there is no commit yet.
    @ivar commit: the commit of HEAD; C{None} before the first commit.
    @ivar ahead: commits that the upstream lacks; C{None} if unknown.
    """

    branch: str | None = None
    detached: bool = False
    unborn: bool = False
    commit: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None


@frozen(kw_only=True)
class WorkTree:
    """Parsed output of one run of C{git status}."""

    head: BranchHead = field(factory=BranchHead)
    counts: ChangeCounts = field(factory=ChangeCounts)
    files: Sequence[FileChange] = ()
    truncated: bool = False


@frozen(kw_only=True)
class UnpushedCommit:
    """Commit that was not pushed; C{time} in epoch seconds, as committed."""

    hash: str
    author: str
    time: int
    subject: str

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form."""
        return {
            "hash": self.hash,
            "author": self.author,
            "time": self.time,
            "subject": self.subject,
        }


@frozen(kw_only=True)
class UnpushedCommits:
    """Commits that the remote lacks: an exact count, and the newest L{MAX_COMMITS}."""

    count: int = 0
    commits: Sequence[UnpushedCommit] = ()


@frozen(kw_only=True)
class RepositoryStatus:
    """Complete status of one repository.

    @ivar checked_at: Unix milliseconds.
    """

    tree: WorkTree
    has_remote: bool
    upstream_gone: bool
    unpushed: UnpushedCommits
    repo_root: str
    checked_at: int

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form (protocol-git-status)."""
        head = self.tree.head
        return {
            "state": "ok",
            "branch": head.branch,
            "detached": head.detached,
            "commit": head.commit,
            "upstream": head.upstream,
            "ahead": head.ahead or 0,
            "behind": head.behind or 0,
            "hasRemote": self.has_remote,
            "upstreamGone": self.upstream_gone,
            "counts": self.tree.counts.to_wire(),
            "files": [change.to_wire() for change in self.tree.files],
            "filesTruncated": self.tree.truncated,
            "unpushedCount": self.unpushed.count,
            "unpushed": [commit.to_wire() for commit in self.unpushed.commits],
            "repoRoot": self.repo_root,
            "checkedAt": self.checked_at,
        }


@frozen(kw_only=True)
class StatusSnapshot:
    """Status of a repository as it is cached for a moment.

    @ivar error: why there is none; then C{files} is empty.
    @ivar git_missing: there is none because git is not installed.
    @ivar payload: the wire form.
    """

    payload: dict[str, Any]
    files: Sequence[FileChange] = ()
    error: str | None = None
    git_missing: bool = False

    def find_change(self, path: str, kind: ChangeKind) -> FileChange | None:
        """Return the listed change with that path and kind, or C{None}."""
        fits = (
            change
            for change in self.files
            if change.kind is kind and to_display_text(change.path) == path
        )
        return next(fits, None)


def make_snapshot(status: RepositoryStatus) -> StatusSnapshot:
    """Return a snapshot of a status."""
    return StatusSnapshot(payload=status.to_wire(), files=status.tree.files)


def make_failed_snapshot(
    repository: GitRepository, error: str, now: int, *, git_missing: bool = False
) -> StatusSnapshot:
    """Return a snapshot for a repository that git could not read."""
    payload = {
        "state": "error",
        "error": error,
        "repoRoot": repository.shown_root,
        "checkedAt": now,
    }
    return StatusSnapshot(payload=payload, error=error, git_missing=git_missing)


@frozen(kw_only=True)
class FileDiff:
    """Text of a diff; C{truncated}: cut short at L{DIFF_LIMIT}."""

    diff: str
    truncated: bool = False
    binary: bool = False

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"diff": self.diff, "truncated": self.truncated, "binary": self.binary}


@frozen(kw_only=True)
class GitOptions:
    """Options of a request, within their bounds.

    @ivar timeout: seconds that one git command may run.
    @ivar fresh: do not answer from a cache.
    """

    max_repos: int = 12
    timeout: float = 30.0
    fresh: bool = False


def limit_repositories(found: FoundRepositories, limit: int) -> FoundRepositories:
    """Return the first C{limit} repositories."""
    if len(found.repositories) <= limit:
        return found
    return evolve(found, repositories=found.repositories[:limit], more=True)
