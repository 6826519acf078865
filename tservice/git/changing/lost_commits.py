"""Search for commits that exist in a single repository or worktree and would be lost with it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import frozen

from tservice.git.changing.nested_repositories import FolderRepositories, list_worktree_folders
from tservice.git.model import GitRepository
from tservice.git.small_files import read_small_file
from tservice.git.status.inspector import ReadingContext, RepositoryInspector

MAX_COUNTED = 1000
"""Maximum number of commits that are counted.

If there are more, the error text says "or more".
"""
MAX_NAMED = 3
"""Number of commits listed in an error text, newest first, so that the user can retrieve them."""
LOG_BYTES = 1024 * 1024
"""Maximum bytes read from the end of one reflog."""
LOG_HASHES = 2000
"""Maximum number of hashes taken from the end of one reflog."""
BRANCH_LOGS = 500
"""Maximum number of branch reflogs that are read.

A commit that only a further reflog contains is reported as lost.
"""

_NAMED_LENGTH = 9
_HASH_LIMIT = 100
_REV_LIST = ("--no-replace-objects", "rev-list", f"--max-count={MAX_COUNTED}", "--ignore-missing")
_OWN_REFS = ("refs/bisect", "refs/worktree", "refs/rewritten")
"""Prefixes of references that exist separately in each worktree."""
_SHARED = (*(f"--exclude={name}/*" for name in _OWN_REFS), "--glob=refs/*")
_NOT_PUSHED = ("refs/stash", "refs/remotes/*", "refs/prefetch/*")
"""References that need no check here: they are counted separately, or a remote has their commits.
"""
_ENTRY = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*(?:\t(.*))?")
_REBASE = b"rebase"


@frozen(kw_only=True)
class LostCommits:
    """Commits that have no other copy, newest first, at most L{MAX_COUNTED}."""

    hashes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of these commits."""
        return len(self.hashes)

    def describe(self, holder: str) -> str:
        """Return an error text with the number of commits, C{holder}, and the newest hashes.

        @param holder: phrase that says which repository or worktree has the commits.
        """
        number = f"{self.count} or more" if self.count >= MAX_COUNTED else str(self.count)
        named = ", ".join(each[:_NAMED_LENGTH] for each in self.hashes[:MAX_NAMED])
        more = ", ..." if self.count > MAX_NAMED else ""
        return f"{number} {'commit' if self.count == 1 else 'commits'} {holder} ({named}{more})"


async def find_worktree_commits(
    inspector: RepositoryInspector, visit: ReadingContext, others: Sequence[str]
) -> LostCommits:
    """Find commits that can be reached only from a worktree: from a detached HEAD or a bisect.

    @param others: HEADs of other worktrees, from L{read_other_heads}.
    @raise GitError: git fails.
    """
    own = ("HEAD", *(f"--glob={name}/*" for name in _OWN_REFS))
    return await _list_commits(inspector, visit, (*own, "--not", *_SHARED, *others))


async def find_unpushed_commits(
    inspector: RepositoryInspector, visit: ReadingContext
) -> LostCommits:
    """Find the commits of a repository that no remote has.

    If the repository has a remote, tagged commits count as pushed.  A clone also fetches tags that
    are on no branch.

    @raise GitError: git fails.
    """
    known = (*_NOT_PUSHED, "refs/tags/*") if visit.configured.has_remote else _NOT_PUSHED
    excluded = [f"--exclude={name}" for name in known]
    return await _list_commits(inspector, visit, (*excluded, "--all", "HEAD", "--not", "--remotes"))


async def find_detached_commits(
    inspector: RepositoryInspector, visit: ReadingContext
) -> LostCommits:
    """Find commits of a detached HEAD that no branch, tag or remote has.

    @raise GitError: git fails.
    """
    return await _list_commits(
        inspector, visit, ("HEAD", "--not", "--branches", "--tags", "--remotes")
    )


async def find_reflog_commits(
    inspector: RepositoryInspector,
    visit: ReadingContext,
    own: Sequence[str],
    others: Sequence[str],
    *,
    tags_stay: bool,
) -> LostCommits:
    """Find commits that can be reached only from the reflog of a HEAD.

    @param own: hashes in that reflog.
    @param others: hashes that survive: HEADs of other worktrees, and reflogs of branches.
    @param tags_stay: true if the tags survive; otherwise a tagged commit that no remote has is
        lost.
    @raise GitError: git fails.
    """
    if not own:
        return LostCommits()
    known = ("--glob=refs/*",) if tags_stay else ("--exclude=refs/tags/*", "--glob=refs/*")
    return await _list_commits(inspector, visit, (*own, "--not", "HEAD", *known, *others))


async def _list_commits(
    inspector: RepositoryInspector, visit: ReadingContext, which: Sequence[str]
) -> LostCommits:
    output = await inspector.run_git(visit, (*_REV_LIST, *which, "--"), MAX_COUNTED * _HASH_LIMIT)
    return LostCommits(hashes=tuple(output.decode("ascii", "replace").split()))


def read_head_reflog(repository: GitRepository) -> list[str]:
    """Return the hashes in the reflog of the repository's HEAD.  Blocks.

    Steps of a rebase are left out.  The branch has their result, and its reflog has the commits
    from before the rebase.
    """
    return _read_reflog_hashes(os.path.join(repository.control, b"logs", b"HEAD"), _is_rebase_step)


def read_other_heads(repository: GitRepository, inside: FolderRepositories) -> list[str]:
    """Return the detached HEADs that survive when the folder of C{inside} is removed.

    Blocks.
    """
    common = repository.common
    controls = [] if inside.removes_path(common) else [common]
    for control, folder in list_worktree_folders(common):
        goes = inside.removes_path(os.path.realpath(control)) or inside.removes_path(folder)
        if not goes and os.path.isdir(folder):
            controls.append(control)
    found = [read_small_file(os.path.join(control, b"HEAD"), _HASH_LIMIT) for control in controls]
    heads = [text.strip().decode("ascii", "replace") for text in found if text]
    return [head for head in heads if re.fullmatch("[0-9a-f]{40,64}", head)]


def read_branch_reflogs(repository: GitRepository, inside: FolderRepositories) -> list[str]:
    """Return the hashes in the reflogs of branches that survive the removal.  Blocks."""
    if inside.removes_path(repository.common):
        return []
    found: dict[str, None] = {}
    for number, path in enumerate(
        _iterate_files_below(os.path.join(repository.common, b"logs", b"refs"))
    ):
        if number >= BRANCH_LOGS or len(found) >= LOG_HASHES:
            break
        found |= dict.fromkeys(_read_reflog_hashes(path, lambda said: False))
    return list(found)[:LOG_HASHES]


def _iterate_files_below(folder: bytes) -> Iterator[bytes]:
    for parent, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(parent, name)


def _is_rebase_step(said: bytes) -> bool:
    return said.startswith(_REBASE)


def _read_reflog_hashes(path: bytes, leave_out: Callable[[bytes], bool]) -> list[str]:
    """Return the hashes in a reflog, newest first.

    @param leave_out: returns true for a message of the reflog whose entry is skipped.
    """
    found: dict[str, None] = {}
    for line in reversed(_read_last_lines(path)):
        entry = _ENTRY.fullmatch(line)
        if entry is None or leave_out(entry[3] or b""):
            continue
        found |= dict.fromkeys(each.decode() for each in _without_zero_hashes((entry[2], entry[1])))
        if len(found) >= LOG_HASHES:
            break
    return list(found)


def _without_zero_hashes(hashes: Iterable[bytes]) -> Iterable[bytes]:
    """Yield the hashes except the all-zero hash, by which git denotes no commit."""
    return (each for each in hashes if each.strip(b"0"))


def _read_last_lines(path: bytes) -> list[bytes]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return []  # the reflog is missing
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return []
        start = max(0, status.st_size - LOG_BYTES)
        lines = os.pread(descriptor, LOG_BYTES, start).split(b"\n")
    finally:
        os.close(descriptor)
    return lines[1:] if start else lines
