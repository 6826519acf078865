"""Records of repositories, their status and diffs, and their wire form."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Protocol

from attrs import evolve, field, frozen

MAX_FILES = 300
"""Maximum number of files listed for one repository (protocol-git-status).

The counts stay exact.
"""
MAX_COMMITS = 50
"""Maximum number of unpushed commits listed for one repository (protocol-git-status)."""
DIFF_LIMIT = 400 * 1024
"""Maximum bytes of a diff; a longer one is truncated (protocol-git-diff)."""
ERROR_LIMIT = 300
"""Maximum characters of an error text (protocol-git-status)."""
_BINARY_PROBE = 8000
"""Number of leading bytes that git searches for a NUL to recognise a binary file."""


class ChangeKind(StrEnum):
    """Kind of change to a file. One file may be both staged and unstaged."""

    CONFLICTED = "conflicted"
    STAGED = "staged"
    UNSTAGED = "unstaged"
    UNTRACKED = "untracked"


class ContainerWorkspaces(Protocol):
    """Callable that lists the folders which containers share with this machine."""

    def __call__(self) -> Iterable[str]:
        """Return absolute paths.  Git is never run at or inside one of them."""


def to_display_text(raw: bytes) -> str:
    r"""Return a file name as text that JSON can hold.

    Bytes that are not UTF-8 become C{\xNN}.

    Clients send this text back to identify the file.  If two names have the same text, the first
    listed one is used.
    """
    return raw.decode("utf-8", "backslashreplace")


def is_binary_content(data: bytes) -> bool:
    """Return true if git would take this content for binary."""
    return b"\0" in data[:_BINARY_PROBE]


def hash_blob(data: bytes) -> str:
    """Return the name of the blob with this content, as git calculates it."""
    head = b"blob %d\0" % len(data)
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


@frozen(kw_only=True)
class GitRepository:
    """Paths of a repository.  Every path is absolute and free of symbolic links.

    @ivar root: top folder of the working tree.
    @ivar control: the repository's C{.git} folder; for a worktree, its folder inside the main
        repository's C{.git}.
    @ivar common: folder with the configuration and shared references; same as C{control} except for
        worktrees.
    @ivar bare: true if there is no working tree; C{root} is then C{control}.
    """

    root: bytes
    control: bytes
    common: bytes
    bare: bool = False

    @property
    def wire_root(self) -> str:
        """Field C{repoRoot} on the wire: C{root} as text, which clients send back."""
        return to_display_text(self.root)

    @property
    def folder(self) -> str:
        """C{root} as text, for the check that the folder is reachable."""
        return os.fsdecode(self.root)

    def path_relative_to(self, folder: bytes) -> str:
        """Return C{root} relative to C{folder} (protocol-git-status).

        The result is C{.} for the folder itself, and begins with C{..} for a parent.
        """
        return to_display_text(os.path.relpath(self.root, folder))


@frozen(kw_only=True)
class FoundRepositories:
    """Repositories of a workspace.

    @ivar scanned: true if they were found below the workspace; false if the workspace itself is in
        a repository.
    @ivar more: true if the search stopped at a limit.
    """

    repositories: Sequence[GitRepository] = ()
    scanned: bool = False
    more: bool = False


@frozen(kw_only=True)
class FileChange:
    """Entry of C{files[]}.  Paths are relative to the repository's root.

    @ivar index: git's status letter for HEAD against index; C{.} means unchanged.
    @ivar worktree: git's status letter for index against working tree.
    """

    path: bytes
    kind: ChangeKind
    index: str
    worktree: str
    original: bytes | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the change as an entry of the response's C{files[]}."""
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
    """Exact numbers of changes.  C{uncommitted} counts each path once."""

    staged: int = 0
    unstaged: int = 0
    untracked: int = 0
    conflicted: int = 0
    uncommitted: int = 0
    stashes: int = 0

    def to_wire(self) -> dict[str, int]:
        """Return the numbers as a JSON object of the response."""
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
    """State of the current branch, from C{git status --branch}.

    @ivar branch: name of the branch; C{None} if HEAD is detached.
    @ivar unborn: true if there is no commit yet.
    @ivar commit: the commit of HEAD; C{None} before the first commit.
    @ivar ahead: number of commits that the upstream lacks; C{None} if unknown.
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
    """Commit that was not pushed.  C{time} is the commit time in Unix seconds."""

    hash: str
    author: str
    time: int
    subject: str

    def to_wire(self) -> dict[str, Any]:
        """Return the commit as a JSON object of the response."""
        return {
            "hash": self.hash,
            "author": self.author,
            "time": self.time,
            "subject": self.subject,
        }


@frozen(kw_only=True)
class UnpushedCommits:
    """Commits that no remote has: their exact number, and the newest L{MAX_COMMITS} of them."""

    count: int = 0
    commits: Sequence[UnpushedCommit] = ()


@frozen(kw_only=True)
class RepositoryStatus:
    """Complete status of one repository.

    @ivar checked_at: time of the check, Unix milliseconds.
    """

    tree: WorkTree
    has_remote: bool
    upstream_gone: bool
    unpushed: UnpushedCommits
    repo_root: str
    checked_at: int

    def to_wire(self) -> dict[str, Any]:
        """Return the status as a JSON object of the response (protocol-git-status)."""
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
    """Status of a repository, as it is cached for a short time.

    @ivar error: reason why the status could not be read; C{files} is then empty.
    @ivar git_missing: true if the reason is that git is not installed.
    @ivar payload: the status in wire form.
    """

    payload: dict[str, Any]
    files: Sequence[FileChange] = ()
    error: str | None = None
    git_missing: bool = False

    def find_change(self, path: str, kind: ChangeKind) -> FileChange | None:
        """Return the listed change with that path and kind; C{None} if it is not listed."""
        fits = (
            change
            for change in self.files
            if change.kind is kind and to_display_text(change.path) == path
        )
        return next(fits, None)


def make_snapshot(status: RepositoryStatus) -> StatusSnapshot:
    """Return a snapshot of a status, to be cached."""
    return StatusSnapshot(payload=status.to_wire(), files=status.tree.files)


def make_failed_snapshot(
    repository: GitRepository, error: str, now: int, *, git_missing: bool = False
) -> StatusSnapshot:
    """Return a snapshot for a repository whose status could not be read.

    @param now: Unix milliseconds.
    """
    payload = {
        "state": "error",
        "error": error,
        "repoRoot": repository.wire_root,
        "checkedAt": now,
    }
    return StatusSnapshot(payload=payload, error=error, git_missing=git_missing)


@frozen(kw_only=True)
class FileDiff:
    """Text of a diff.  C{truncated} is true if it was cut at L{DIFF_LIMIT}."""

    diff: str
    truncated: bool = False
    binary: bool = False

    def to_wire(self) -> dict[str, Any]:
        """Return the diff as the JSON object of the response."""
        return {"diff": self.diff, "truncated": self.truncated, "binary": self.binary}


@frozen(kw_only=True)
class GitOptions:
    """Options of a request, clamped to their bounds.

    @ivar timeout: time limit in seconds of one git command.
    @ivar fresh: true if cached answers must not be used.
    """

    max_repos: int = 12
    timeout: float = 30.0
    fresh: bool = False


def limit_repositories(found: FoundRepositories, limit: int) -> FoundRepositories:
    """Return only the first C{limit} repositories."""
    if len(found.repositories) <= limit:
        return found
    return evolve(found, repositories=found.repositories[:limit], more=True)
