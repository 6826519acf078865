"""Search for work in a folder that no other repository has (protocol-cases)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from attrs import frozen

from tservice.core.locations.location import Location
from tservice.core.workers.thread_runners import RunInLocation
from tservice.git.changing.hidden_changes import count_hidden_changes
from tservice.git.changing.ignored_secrets import list_ignored_secrets, select_uncopied_paths
from tservice.git.changing.lost_commits import (
    LostCommits,
    find_detached_commits,
    find_reflog_commits,
    find_unpushed_commits,
    find_worktree_commits,
    read_branch_reflogs,
    read_head_reflog,
    read_other_heads,
)
from tservice.git.changing.nested_repositories import (
    FolderRepositories,
    find_missing_worktree,
    find_repositories,
    list_worktree_folders,
)
from tservice.git.model import ChangeKind, GitRepository, RepositoryStatus, to_display_text
from tservice.git.process.runner import GitError
from tservice.git.small_files import read_small_file
from tservice.git.status.commits import COUNT, COUNT_LIMIT, parse_count
from tservice.git.status.inspector import ReadingContext, RepositoryInspector
from tservice.git.status.porcelain import GitOutputError

_T = TypeVar("_T")

SECONDS = 30.0
"""Time limit of one git command in seconds."""

_REASON_LIMIT = 4096
_ON_NO_REMOTE = ("--branches", "--not", "--remotes", "--")
_SERVICE_FILES = {b".claude/": b"settings.local.json"}
"""Files that the service itself writes into a workspace, by folder.

A folder that holds only this file does not count as unsaved work.
"""
_UNFINISHED_OPERATIONS = {
    b"rebase-merge": "rebase",
    b"rebase-apply": "rebase",
    b"MERGE_HEAD": "merge",
    b"CHERRY_PICK_HEAD": "cherry-pick",
    b"REVERT_HEAD": "revert",
    b"sequencer": "sequence of picks",
    b"BISECT_LOG": "bisect",
}
"""Files in a control folder that show an unfinished operation, and the operation's name."""


@frozen(kw_only=True)
class _FolderCheckContext:
    """Context of the check of one folder.

    @ivar source: the main repository if the folder is a worktree that is removed for good; C{None}
        if the folder is moved to the trash, from where it can be restored.
    """

    inspector: RepositoryInspector
    inside: FolderRepositories
    place: Location
    owner: str | None
    source: str | None

    @property
    def is_permanent(self) -> bool:
        """True if the folder is removed for good and cannot be restored."""
        return self.source is not None


@frozen(kw_only=True)
class _RepositoryFacts:
    """Facts about one repository that are read from its files without running git."""

    changes: int = 0
    under_way: tuple[str, ...] = ()
    lock: str | None = None
    elsewhere: int = 0
    log: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    branch_logs: tuple[str, ...] = ()


class UnsavedWorkFinder:
    """Finds unsaved work in folders, as the OS user of the folder's location."""

    def __init__(
        self,
        in_place: RunInLocation,
        inspector_of: Callable[[Location, str | None], RepositoryInspector],
    ) -> None:
        self._in_place = in_place
        self._inspector_of = inspector_of

    async def find_unsaved_work(
        self, folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        """Return sentences on unsaved work; see
        L{tservice.git.interfaces.IGitWork.find_unsaved_work}.
        """
        find = partial(_find_repositories, folder, repository)
        inside = await self._in_place(place, find, folder, owner)
        look = _FolderCheckContext(
            inspector=self._inspector_of(place, owner),
            inside=inside,
            place=place,
            owner=owner,
            source=repository,
        )
        found = [] if inside.is_complete else ["it has too many folders or repositories to check"]
        found += [f"{name} has a .git that leads to no repository" for name in inside.broken]
        for held in inside.repositories:
            lost = await self._describe_loss(look, held.repository)
            if lost:
                found.append(f"{held.name} has {lost}")
        return tuple(found)

    async def _describe_loss(self, look: _FolderCheckContext, repository: GitRepository) -> str:
        try:
            said = await self._list_losses(look, repository)
        except (GitError, GitOutputError) as error:
            return f"a repository that cannot be checked: {error}"
        return " and ".join(said)

    async def _list_losses(self, look: _FolderCheckContext, repository: GitRepository) -> list[str]:
        inspector, goes = look.inspector, look.inside.removes_path(repository.common)
        status = None if repository.bare else await inspector.read_status(repository, SECONDS)
        visit = await inspector.open_repository(repository, SECONDS)
        read = partial(_collect_repository_facts, repository, look.inside, status)
        files = await self._in_place(look.place, read, repository.folder, look.owner)
        hidden = 0 if status is None else await self._count_hidden_changes(look, visit)
        unpushed = await _count_unpushed(look, visit, status)
        lost, forgotten = await _find_lost_commits(look, visit, files)
        # The stashes of a worktree stay with its repository.
        stashes = await _count_stashes(inspector, visit) if goes else 0
        said = _format_count(files.changes + hidden, "uncommitted change", "uncommitted changes")
        said += await self._describe_secrets(look, visit)
        if lost.count:
            of_remote = "of a remote " if goes and look.is_permanent else ""
            said.append(lost.describe(f"that no branch {of_remote}has"))
        if unpushed > lost.count:
            said += _format_count(unpushed, "unpushed commit", "unpushed commits")
        if forgotten.count:
            said.append(forgotten.describe("that only its reflog has"))
        said += _format_count(stashes, "stash", "stashes")
        said += _format_count(files.elsewhere, "worktree elsewhere", "worktrees elsewhere")
        said += [f"an unfinished {each}" for each in files.under_way]
        if files.lock is not None and look.is_permanent:
            said.append(f"a lock of git worktree lock{files.lock and f' ({files.lock})'}")
        return said

    async def _describe_secrets(
        self, look: _FolderCheckContext, visit: ReadingContext
    ) -> list[str]:
        """Return sentences on ignored files that may hold secrets.

        Identical copies of files in the repository that the worktree was made from are left out.
        """
        if look.source is None or visit.repository.bare:
            return []
        paths = await list_ignored_secrets(look.inspector, visit)
        if not paths:
            return []
        root = visit.repository.root
        source = os.fsencode(look.source)
        work = partial(select_uncopied_paths, root, paths, look.inside.top, source)
        found = await self._in_place(look.place, work, visit.repository.folder, look.owner)
        said = _format_count(len(found), "ignored file with secrets", "ignored files with secrets")
        return [f"{each} ({to_display_text(found[0])})" for each in said]

    async def _count_hidden_changes(self, look: _FolderCheckContext, visit: ReadingContext) -> int:
        def in_thread(work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
            return self._in_place(look.place, work, at, look.owner)

        return await count_hidden_changes(look.inspector, visit, in_thread)


async def _count_unpushed(
    look: _FolderCheckContext, visit: ReadingContext, status: RepositoryStatus | None
) -> int:
    """Return the number of unpushed commits of a repository that has a remote.

    For a worktree only its checked-out branch counts, because the main repository keeps the others.
    """
    checked_out = 0 if status is None else status.unpushed.count
    goes = look.inside.removes_path(visit.repository.common)
    if not visit.configured.has_remote or not goes:
        return checked_out
    output = await look.inspector.run_git(visit, (*COUNT, *_ON_NO_REMOTE), COUNT_LIMIT)
    return max(checked_out, parse_count(output))


async def _find_lost_commits(
    look: _FolderCheckContext, visit: ReadingContext, files: _RepositoryFacts
) -> tuple[LostCommits, LostCommits]:
    """Return two groups of commits that have no other copy.

    The first can be reached from a reference or HEAD, the second only from the reflog.
    """
    inspector, inside, repository = look.inspector, look.inside, visit.repository
    goes = inside.removes_path(repository.common)
    if not goes and not inside.removes_path(repository.control):
        return LostCommits(), LostCommits()
    if not goes:
        lost = await find_worktree_commits(inspector, visit, files.others)
    elif look.is_permanent:
        lost = await find_unpushed_commits(inspector, visit)
    elif not visit.configured.has_remote:
        lost = await find_detached_commits(inspector, visit)
    else:
        lost = LostCommits()
    if not look.is_permanent:
        return lost, LostCommits()
    others = (*files.others, *files.branch_logs)
    forgotten = await find_reflog_commits(
        inspector, visit, files.log, others, tags_stay=not goes or not visit.configured.has_remote
    )
    return lost, forgotten


async def _count_stashes(inspector: RepositoryInspector, visit: ReadingContext) -> int:
    listed = await inspector.run_git(
        visit, ("for-each-ref", "--count=1", "refs/stash"), COUNT_LIMIT
    )
    if not listed:
        return 0
    words = (*COUNT, "--walk-reflogs", "refs/stash", "--")
    # A stash without a reflog still counts.
    return max(1, parse_count(await inspector.run_git(visit, words, COUNT_LIMIT)))


def _format_count(number: int, one: str, many: str) -> list[str]:
    return [f"{number} {one if number == 1 else many}"] if number else []


def _find_repositories(folder: str, repository: str | None) -> FolderRepositories:
    """Find the repositories in a folder, or the remaining state of a worktree whose folder is
    missing.

    @raise OSError: the folder cannot be read.
    """
    if repository is not None and not os.path.lexists(folder):
        return find_missing_worktree(os.fsencode(folder), os.fsencode(repository))
    return find_repositories(os.fsencode(folder))


def _collect_repository_facts(
    repository: GitRepository, inside: FolderRepositories, status: RepositoryStatus | None
) -> _RepositoryFacts:
    """Collect facts about a repository from the file system.  Blocks."""
    control = repository.control
    goes = inside.removes_path(control)
    names = (
        name for name in _UNFINISHED_OPERATIONS if os.path.lexists(os.path.join(control, name))
    )
    return _RepositoryFacts(
        changes=0 if status is None else _count_uncommitted_paths(repository, status),
        under_way=tuple(dict.fromkeys(_UNFINISHED_OPERATIONS[name] for name in names))
        if goes
        else (),
        lock=_read_lock_reason(repository),
        elsewhere=_count_outside_worktrees(repository, inside),
        log=tuple(read_head_reflog(repository)),
        others=tuple(read_other_heads(repository, inside)),
        branch_logs=tuple(read_branch_reflogs(repository, inside)),
    )


def _read_lock_reason(repository: GitRepository) -> str | None:
    """Return the reason for which a linked worktree is locked; C{None} if it is not locked."""
    path = os.path.join(repository.control, b"locked")
    if repository.control == repository.common or not os.path.lexists(path):
        return None
    text = (read_small_file(path, _REASON_LIMIT) or b"").decode("utf-8", "replace")
    return " ".join(text.split())


def _count_outside_worktrees(repository: GitRepository, inside: FolderRepositories) -> int:
    """Return the number of worktrees outside the folder that use this repository.

    Blocks.

    They become useless when the repository is removed.
    """
    if not inside.removes_path(repository.common) or repository.control != repository.common:
        return 0
    folders = [folder for _, folder in list_worktree_folders(repository.common)]
    return sum(os.path.isdir(folder) and not inside.removes_path(folder) for folder in folders)


def _count_uncommitted_paths(repository: GitRepository, status: RepositoryStatus) -> int:
    """Return the number of uncommitted paths, except files that the service wrote.

    Blocks.
    """
    own = [
        change.path
        for change in status.tree.files
        if change.kind is ChangeKind.UNTRACKED and _is_service_file(repository.root, change.path)
    ]
    return status.tree.counts.uncommitted - len(own)


def _is_service_file(root: bytes, path: bytes) -> bool:
    for folder, file in _SERVICE_FILES.items():
        if path == folder + file:
            return True
        if path == folder:
            try:
                return os.listdir(os.path.join(root, folder)) == [file]
            except OSError:
                return False
    return False
