"""Work that would be lost with a folder because no other repository has it (protocol-cases)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from attrs import frozen

from tservice.core.doors.thread_runners import RunInLocation
from tservice.core.places.location import Location
from tservice.git.changing.hiddenchanges import count_hidden_changes
from tservice.git.changing.ignoredsecrets import list_ignored_secrets, without_copies
from tservice.git.changing.inside import (
    Inside,
    find_inside,
    find_missing,
    worktree_folders,
)
from tservice.git.changing.lostcommits import (
    LostCommits,
    branch_logs,
    commits_of_nothing,
    commits_of_reflog,
    commits_of_repository,
    commits_of_worktree,
    other_heads,
    own_log,
)
from tservice.git.commits import COUNT, parse_count
from tservice.git.inspect import Inspection, Inspector
from tservice.git.model import ChangeKind, Repository, RepositoryStatus, display
from tservice.git.porcelain import BadOutput
from tservice.git.runner import GitError
from tservice.git.smallfiles import read_small

_T = TypeVar("_T")

SECONDS = 30.0
"""Seconds that one git command may take."""

_COUNT_LIMIT = 100
_REASON_LIMIT = 4096
_ON_NO_REMOTE = ("--branches", "--not", "--remotes", "--")
_OWN = {b".claude/": b"settings.local.json"}
"""Files that the service itself writes into a workspace: a folder that holds only this file."""
_UNDER_WAY = {
    b"rebase-merge": "rebase",
    b"rebase-apply": "rebase",
    b"MERGE_HEAD": "merge",
    b"CHERRY_PICK_HEAD": "cherry-pick",
    b"REVERT_HEAD": "revert",
    b"sequencer": "sequence of picks",
    b"BISECT_LOG": "bisect",
}
"""Files of a control folder that show an unfinished operation."""


@frozen(kw_only=True)
class _Look:
    """Context of checking one folder.

    @ivar source: the repository of a worktree that is removed; C{None}: the folder is moved to the
        trash, from where it can be restored.
    """

    inspector: Inspector
    inside: Inside
    place: Location
    owner: str | None
    source: str | None

    @property
    def for_good(self) -> bool:
        """True if nothing can be restored."""
        return self.source is not None


@frozen(kw_only=True)
class _Files:
    """Facts about one repository that come from its files instead of git."""

    changes: int = 0
    under_way: tuple[str, ...] = ()
    lock: str | None = None
    elsewhere: int = 0
    log: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    branch_logs: tuple[str, ...] = ()


class UnsavedWork:
    """Finds unsaved work, with the rights of the folder's location."""

    def __init__(
        self, in_place: RunInLocation, inspector_of: Callable[[Location, str | None], Inspector]
    ) -> None:
        self._in_place = in_place
        self._inspector_of = inspector_of

    async def tell(
        self, folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        """See L{tservice.git.interfaces.IGitWork.unsaved}."""
        find = partial(_find, folder, repository)
        inside = await self._in_place(place, find, folder, owner)
        look = _Look(
            inspector=self._inspector_of(place, owner),
            inside=inside,
            place=place,
            owner=owner,
            source=repository,
        )
        found = [] if inside.whole else ["it has too many folders or repositories to check"]
        found += [f"{name} has a .git that leads to no repository" for name in inside.broken]
        for held in inside.repositories:
            lost = await self._lost(look, held.repository)
            if lost:
                found.append(f"{held.name} has {lost}")
        return tuple(found)

    async def _lost(self, look: _Look, repository: Repository) -> str:
        try:
            said = await self._told(look, repository)
        except (GitError, BadOutput) as error:
            return f"a repository that cannot be checked: {error}"
        return " and ".join(said)

    async def _told(self, look: _Look, repository: Repository) -> list[str]:
        inspector, goes = look.inspector, look.inside.goes(repository.common)
        status = None if repository.bare else await inspector.status(repository, SECONDS)
        visit = await inspector.visit(repository, SECONDS)
        read = partial(_read_files, repository, look.inside, status)
        files = await self._in_place(look.place, read, repository.folder, look.owner)
        hidden = 0 if status is None else await self._hidden(look, visit)
        unpushed = await _unpushed(look, visit, status)
        lost, forgotten = await _lost_commits(look, visit, files)
        # The stashes of a worktree stay with its repository.
        stashes = await _stashes(inspector, visit) if goes else 0
        said = _counted(files.changes + hidden, "uncommitted change", "uncommitted changes")
        said += await self._secrets(look, visit)
        if lost.count:
            of_remote = "of a remote " if goes and look.for_good else ""
            said.append(lost.told(f"that no branch {of_remote}has"))
        if unpushed > lost.count:
            said += _counted(unpushed, "unpushed commit", "unpushed commits")
        if forgotten.count:
            said.append(forgotten.told("that only its reflog has"))
        said += _counted(stashes, "stash", "stashes")
        said += _counted(files.elsewhere, "worktree elsewhere", "worktrees elsewhere")
        said += [f"an unfinished {each}" for each in files.under_way]
        if files.lock is not None and look.for_good:
            said.append(f"a lock of git worktree lock{files.lock and f' ({files.lock})'}")
        return said

    async def _secrets(self, look: _Look, visit: Inspection) -> list[str]:
        """Return a text about ignored files with secrets, except copies of those of the case it
        comes from.
        """
        if look.source is None or visit.repository.bare:
            return []
        paths = await list_ignored_secrets(look.inspector, visit)
        if not paths:
            return []
        root = visit.repository.root
        source = os.fsencode(look.source)
        work = partial(without_copies, root, paths, look.inside.top, source)
        found = await self._in_place(look.place, work, visit.repository.folder, look.owner)
        said = _counted(len(found), "ignored file with secrets", "ignored files with secrets")
        return [f"{each} ({display(found[0])})" for each in said]

    async def _hidden(self, look: _Look, visit: Inspection) -> int:
        def in_thread(work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
            return self._in_place(look.place, work, at, look.owner)

        return await count_hidden_changes(look.inspector, visit, in_thread)


async def _unpushed(look: _Look, visit: Inspection, status: RepositoryStatus | None) -> int:
    """Return the number of unpushed commits of a repository with a remote.

    For a worktree only the checked-out branch counts: its other branches are not in it.
    """
    checked_out = 0 if status is None else status.unpushed.count
    goes = look.inside.goes(visit.repository.common)
    if not visit.configured.has_remote or not goes:
        return checked_out
    output = await look.inspector.ask(visit, (*COUNT, *_ON_NO_REMOTE), _COUNT_LIMIT)
    return max(checked_out, parse_count(output))


async def _lost_commits(
    look: _Look, visit: Inspection, files: _Files
) -> tuple[LostCommits, LostCommits]:
    """Return the commits that have no other copy, and those that only the reflog has."""
    inspector, inside, repository = look.inspector, look.inside, visit.repository
    goes = inside.goes(repository.common)
    if not goes and not inside.goes(repository.control):
        return LostCommits(), LostCommits()
    if not goes:
        lost = await commits_of_worktree(inspector, visit, files.others)
    elif look.for_good:
        lost = await commits_of_repository(inspector, visit)
    elif not visit.configured.has_remote:
        lost = await commits_of_nothing(inspector, visit)
    else:
        lost = LostCommits()
    if not look.for_good:
        return lost, LostCommits()
    others = (*files.others, *files.branch_logs)
    forgotten = await commits_of_reflog(
        inspector, visit, files.log, others, tags_stay=not goes or not visit.configured.has_remote
    )
    return lost, forgotten


async def _stashes(inspector: Inspector, visit: Inspection) -> int:
    listed = await inspector.ask(visit, ("for-each-ref", "--count=1", "refs/stash"), _COUNT_LIMIT)
    if not listed:
        return 0
    words = (*COUNT, "--walk-reflogs", "refs/stash", "--")
    # A stash without a reflog still counts.
    return max(1, parse_count(await inspector.ask(visit, words, _COUNT_LIMIT)))


def _counted(number: int, one: str, many: str) -> list[str]:
    return [f"{number} {one if number == 1 else many}"] if number else []


def _find(folder: str, repository: str | None) -> Inside:
    """Find the repositories of a folder, or the rest of a worktree whose folder is missing.

    @raise OSError: the folder cannot be read.
    """
    if repository is not None and not os.path.lexists(folder):
        return find_missing(os.fsencode(folder), os.fsencode(repository))
    return find_inside(os.fsencode(folder))


def _read_files(repository: Repository, inside: Inside, status: RepositoryStatus | None) -> _Files:
    """Collect facts about a repository from the file system; blocks."""
    control = repository.control
    goes = inside.goes(control)
    names = (name for name in _UNDER_WAY if os.path.lexists(os.path.join(control, name)))
    return _Files(
        changes=0 if status is None else _changes(repository, status),
        under_way=tuple(dict.fromkeys(_UNDER_WAY[name] for name in names)) if goes else (),
        lock=_lock(repository),
        elsewhere=_worktrees_elsewhere(repository, inside),
        log=tuple(own_log(repository)),
        others=tuple(other_heads(repository, inside)),
        branch_logs=tuple(branch_logs(repository, inside)),
    )


def _lock(repository: Repository) -> str | None:
    """Return why a linked worktree is locked; C{None}: it is not."""
    path = os.path.join(repository.control, b"locked")
    if repository.control == repository.common or not os.path.lexists(path):
        return None
    text = (read_small(path, _REASON_LIMIT) or b"").decode("utf-8", "replace")
    return " ".join(text.split())


def _worktrees_elsewhere(repository: Repository, inside: Inside) -> int:
    """Return the number of worktrees outside that would lose their repository; blocks."""
    if not inside.goes(repository.common) or repository.control != repository.common:
        return 0
    folders = [folder for _, folder in worktree_folders(repository.common)]
    return sum(os.path.isdir(folder) and not inside.goes(folder) for folder in folders)


def _changes(repository: Repository, status: RepositoryStatus) -> int:
    """Return the number of uncommitted paths, without those that the service wrote; blocks."""
    own = [
        change.path
        for change in status.tree.files
        if change.kind is ChangeKind.UNTRACKED and _is_own(repository.root, change.path)
    ]
    return status.tree.counts.uncommitted - len(own)


def _is_own(root: bytes, path: bytes) -> bool:
    for folder, file in _OWN.items():
        if path == folder + file:
            return True
        if path == folder:
            try:
                return os.listdir(os.path.join(root, folder)) == [file]
            except OSError:
                return False
    return False
