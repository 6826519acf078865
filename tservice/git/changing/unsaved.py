"""What would be lost with a folder: work that is in no other repository (protocol-cases)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

from attrs import frozen

from tservice.core.doors.inthread import InPlace
from tservice.core.places.place import Place
from tservice.git.commits import COUNT, parse_count
from tservice.git.inspect import Inspector
from tservice.git.locate import FOLDERS_LIMIT, SKIPPED, recognise
from tservice.git.model import ChangeKind, Repository, RepositoryStatus
from tservice.git.porcelain import BadOutput
from tservice.git.runner import GitError
from tservice.git.smallfiles import read_small

REPOSITORIES = 50
"""Repositories looked at in one folder; with more of them it cannot be told."""
SECONDS = 30.0
"""That one git command may take."""

_CONTROL = b".git"
_COUNT_LIMIT = 100
_POINTER_LIMIT = 8192
_ON_NO_REMOTE = ("--branches", "--not", "--remotes", "--")
_OWN = {b".claude/": b"settings.local.json"}
"""What the service itself puts into a workspace: such a folder with nothing but this in it."""


@frozen(kw_only=True)
class Inside:
    """The repositories of a folder, at any depth.

    @ivar top: the folder, free of symlinks.
    @ivar whole: all of it was looked at.
    """

    top: bytes
    repositories: tuple[Repository, ...]
    whole: bool


class UnsavedWork:
    """Tells, with the rights of the place where the folder is."""

    def __init__(
        self, in_place: InPlace, inspector_of: Callable[[Place, str | None], Inspector]
    ) -> None:
        self._in_place = in_place
        self._inspector_of = inspector_of

    async def tell(self, folder: str, place: Place, owner: str | None) -> tuple[str, ...]:
        """See L{tservice.git.interfaces.IGitWork.unsaved}."""
        look = partial(find_inside, os.fsencode(folder))
        inside = await self._in_place(place, look, folder, owner)
        found = [] if inside.whole else ["there is too much in it to be looked through"]
        inspector = self._inspector_of(place, owner)
        for repository in inside.repositories:
            lost = await self._lost(inspector, repository, inside.top, place, owner)
            if lost is not None:
                name = repository.path_from(inside.top)
                found.append(f"{'it' if name == '.' else name} has {lost}")
        return tuple(found)

    async def _lost(
        self,
        inspector: Inspector,
        repository: Repository,
        top: bytes,
        place: Place,
        owner: str | None,
    ) -> str | None:
        try:
            status = await inspector.status(repository, SECONDS)
            commits = await self._commits(inspector, repository, status)
        except (GitError, BadOutput) as error:
            return f"a repository that cannot be looked at: {error}"
        changed = partial(_changes, repository, status)
        changes = await self._in_place(place, changed, repository.folder, owner)
        elsewhere = partial(_worktrees_elsewhere, repository, top)
        away = await self._in_place(place, elsewhere, repository.folder, owner)
        # The stashes of a worktree stay with its repository.
        stashes = status.tree.counts.stashes if _is_main(repository) else 0
        counted = (
            (changes, "uncommitted change", "uncommitted changes"),
            (commits, "unpushed commit", "unpushed commits"),
            (stashes, "stash", "stashes"),
            (away, "worktree elsewhere", "worktrees elsewhere"),
        )
        said = [f"{n} {one if n == 1 else many}" for n, one, many in counted if n]
        return " and ".join(said) or None

    async def _commits(
        self, inspector: Inspector, repository: Repository, status: RepositoryStatus
    ) -> int:
        """Of a worktree those of what is checked out: its other branches are not in it."""
        if not status.has_remote or not _is_main(repository):
            return status.unpushed.count
        visit = await inspector.visit(repository, SECONDS)
        on_branches = await inspector.ask(visit, (*COUNT, *_ON_NO_REMOTE), _COUNT_LIMIT)
        return max(status.unpushed.count, parse_count(on_branches))


def find_inside(folder: bytes) -> Inside:
    """The repositories at and below C{folder}; blocks.  Symbolic links are not followed.

    @raise OSError: the folder cannot be read.
    """
    os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    top = os.path.realpath(folder)
    found: list[Repository] = []
    for seen, each in enumerate(_folders(top), 1):
        repository = recognise(each)
        if repository is not None:
            found.append(repository)
        if seen >= FOLDERS_LIMIT or len(found) > REPOSITORIES:
            return Inside(top=top, repositories=tuple(found[:REPOSITORIES]), whole=False)
    return Inside(top=top, repositories=tuple(found), whole=True)


def _folders(top: bytes) -> Iterator[bytes]:
    """Nearest first.  What tools fill by themselves is left out, and git's own."""
    ahead = [top]
    while ahead:
        folder = ahead.pop(0)
        yield folder
        try:
            with os.scandir(folder) as entries:
                ahead += sorted(entry.path for entry in entries if _entered(entry))
        except OSError:
            continue  # not the user's to read, so nothing of the user's is in it
        if len(ahead) > FOLDERS_LIMIT:
            ahead = ahead[:FOLDERS_LIMIT]


def _entered(entry: os.DirEntry[bytes]) -> bool:
    return (
        entry.name != _CONTROL and entry.name not in SKIPPED and entry.is_dir(follow_symlinks=False)
    )


def _is_main(repository: Repository) -> bool:
    return repository.control == repository.common


def _worktrees_elsewhere(repository: Repository, top: bytes) -> int:
    """Worktrees outside of C{top}, which are nothing without this repository; blocks."""
    if not _is_main(repository):
        return 0
    folder = os.path.join(repository.common, b"worktrees")
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    found = [read_small(os.path.join(folder, name, b"gitdir"), _POINTER_LIMIT) for name in names]
    places = [os.path.realpath(os.path.dirname(text.strip())) for text in found if text]
    return sum(os.path.isdir(place) and not place.startswith(top + b"/") for place in places)


def _changes(repository: Repository, status: RepositoryStatus) -> int:
    """Paths that are not committed, less what the service put there; blocks."""
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
