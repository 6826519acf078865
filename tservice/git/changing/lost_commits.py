"""Commits that exist in one repository or worktree only, and would be lost with it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import frozen

from tservice.git.changing.nested_repositories import FolderRepositories, worktree_folders
from tservice.git.inspector import ReadingContext, RepositoryInspector
from tservice.git.model import GitRepository
from tservice.git.small_files import read_small

MAX_COUNTED = 1000
"""Commits counted; if there are more, the text says "or more"."""
MAX_NAMED = 3
"""Commits that an error text names, newest first, so that the user can retrieve them."""
LOG_BYTES = 1024 * 1024
"""Bytes read of the end of one reflog."""
LOG_HASHES = 2000
"""Hashes taken of the end of one reflog."""
BRANCH_LOGS = 500
"""Reflogs of branches read; a commit that only a further one holds is reported as lost."""

_NAMED_LENGTH = 9
_HASH_LIMIT = 100
_REV_LIST = ("--no-replace-objects", "rev-list", f"--max-count={MAX_COUNTED}", "--ignore-missing")
_OWN_REFS = ("refs/bisect", "refs/worktree", "refs/rewritten")
"""References that each worktree has for itself."""
_SHARED = (*(f"--exclude={name}/*" for name in _OWN_REFS), "--glob=refs/*")
_NOT_PUSHED = ("refs/stash", "refs/remotes/*", "refs/prefetch/*")
"""References that are counted separately, or that a remote has too."""
_ENTRY = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*(?:\t(.*))?")
_REBASE = b"rebase"


@frozen(kw_only=True)
class LostCommits:
    """The newest commits that have no other copy, at most L{MAX_COUNTED}."""

    hashes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of commits."""
        return len(self.hashes)

    def describe(self, holder: str) -> str:
        """Return the error text: the number, C{holder}, and the newest of them."""
        number = f"{self.count} or more" if self.count >= MAX_COUNTED else str(self.count)
        named = ", ".join(each[:_NAMED_LENGTH] for each in self.hashes[:MAX_NAMED])
        more = ", ..." if self.count > MAX_NAMED else ""
        return f"{number} {'commit' if self.count == 1 else 'commits'} {holder} ({named}{more})"


async def find_worktree_commits(
    inspector: RepositoryInspector, visit: ReadingContext, others: Sequence[str]
) -> LostCommits:
    """Find commits that only a worktree reaches: on a detached HEAD, or in a bisect.

    @param others: HEADs of other worktrees (L{read_other_heads}).
    @raise GitError: git fails.
    """
    own = ("HEAD", *(f"--glob={name}/*" for name in _OWN_REFS))
    return await _list_commits(inspector, visit, (*own, "--not", *_SHARED, *others))


async def find_unpushed_commits(
    inspector: RepositoryInspector, visit: ReadingContext
) -> LostCommits:
    """Find commits of a whole repository that no remote has.

    If there is a remote, tags count as the remote's: a clone also brings those of no branch.

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
    """Find commits that only the reflog C{own} of a HEAD has.

    @param others: HEADs of other worktrees and reflogs of branches, which stay.
    @param tags_stay: tags are kept; otherwise the commits of a tag that no remote has are lost.
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
    """Return the commits that the reflog of the repository's HEAD names; blocks.

    Steps of a rebase are left out: a branch has the result, and another reflog the state before.
    """
    return _read_reflog_hashes(os.path.join(repository.control, b"logs", b"HEAD"), _is_rebase_step)


def read_other_heads(repository: GitRepository, inside: FolderRepositories) -> list[str]:
    """Return the detached HEADs that stay when the folder of C{inside} is removed; blocks."""
    common = repository.common
    controls = [] if inside.is_removed(common) else [common]
    for control, folder in worktree_folders(common):
        goes = inside.is_removed(os.path.realpath(control)) or inside.is_removed(folder)
        if not goes and os.path.isdir(folder):
            controls.append(control)
    found = [read_small(os.path.join(control, b"HEAD"), _HASH_LIMIT) for control in controls]
    heads = [text.strip().decode("ascii", "replace") for text in found if text]
    return [head for head in heads if re.fullmatch("[0-9a-f]{40,64}", head)]


def read_branch_reflogs(repository: GitRepository, inside: FolderRepositories) -> list[str]:
    """Return the commits in reflogs of branches that stay; blocks."""
    if inside.is_removed(repository.common):
        return []
    found: dict[str, None] = {}
    for number, path in enumerate(_walk_files(os.path.join(repository.common, b"logs", b"refs"))):
        if number >= BRANCH_LOGS or len(found) >= LOG_HASHES:
            break
        found |= dict.fromkeys(_read_reflog_hashes(path, lambda said: False))
    return list(found)[:LOG_HASHES]


def _walk_files(folder: bytes) -> Iterator[bytes]:
    for parent, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(parent, name)


def _is_rebase_step(said: bytes) -> bool:
    return said.startswith(_REBASE)


def _read_reflog_hashes(path: bytes, leave_out: Callable[[bytes], bool]) -> list[str]:
    """Return the hashes of a reflog, the last ones first."""
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
    """Yield the hashes that are not zero, which means none."""
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
