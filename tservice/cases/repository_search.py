"""Search for repositories near the top of a folder (protocol-cases)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from attrs import frozen

from tservice.cases.case_operations import CaseOperations
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError

DEPTH = 2
"""Levels of folders below the start that are searched."""

MAX_SEARCHED = 4000
"""Maximum number of entries that are looked at."""

MAX_FOUND = 24
"""Maximum number of repositories in a response, the ones used last first."""

SEARCH_SECONDS = 0.8
"""Seconds after which a search ends with what it has found."""

CALL_SECONDS = 1.0
"""Seconds after which a search that hangs is abandoned."""

_SIGNS_OF_USE = ("index", "HEAD", "logs/HEAD")
"""Files below C{.git} that commands of git write."""


@frozen(kw_only=True)
class FoundRepository:
    """Repository that a search found.

    @ivar used_at: time of the last change by git, in Unix milliseconds.
    """

    name: str
    path: str
    used_at: int


@frozen
class RepositoryFinder:
    """Finder of repositories near the top of a caller's home folder or workspace."""

    _desk: CaseOperations

    async def find_repositories(self, caller: Identity) -> list[FoundRepository]:
        """Return the repositories that a search finds in time.

        A folder that does not answer ends the search with what was found before.

        @raise ServiceError: 422: the home folder is not reachable; 429: too many calls are running.
        """
        desk, spaces = self._desk, self._desk.workspaces
        free = spaces.is_unrestricted(caller)
        top = str(spaces.get_home(caller) if free else spaces.get_cases_folder(caller))
        search = RepositorySearch(desk.clock.seconds)
        try:
            await desk.run_on_folders(
                caller, [top], partial(search.run, top), seconds=CALL_SECONDS, inside=top
            )
        except ServiceError as error:
            if error.code is not ErrorCode.OPERATION_FAILED or not search.found:
                raise
        return search.list_newest()


class RepositorySearch:
    """Search for repositories, in the order in which folders are listed.

    Hidden folders, links, and folders inside of repositories are left out.

    @ivar found: the repositories found so far.  A caller may read them while the search hangs.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        """@param seconds: returns the current time in seconds."""
        self._seconds = seconds
        self._left = MAX_SEARCHED
        self.found: list[FoundRepository] = []

    def run(self, top: str) -> None:
        """Search C{top} until all is searched, or a limit is reached.  Blocks."""
        end = self._seconds() + SEARCH_SECONDS
        folders = [top]
        for _ in range(DEPTH):
            below: list[str] = []
            for folder in folders:
                for path in self._list_folders(folder):
                    if self._seconds() > end:
                        return
                    if os.path.lexists(os.path.join(path, ".git")):
                        self.found.append(_describe_repository(path))
                    else:
                        below.append(path)
            folders = below

    def list_newest(self) -> list[FoundRepository]:
        """Return the repositories, the ones used last first."""
        return sorted(self.found, key=lambda each: -each.used_at)[:MAX_FOUND]

    def _list_folders(self, folder: str) -> Iterator[str]:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if self._left <= 0:
                    return
                self._left -= 1
                hidden = entry.name.startswith(".") or not entry.name.isprintable()
                if not hidden and entry.is_dir(follow_symlinks=False):
                    yield entry.path


def _describe_repository(path: str) -> FoundRepository:
    used = 0.0
    git = os.path.join(path, ".git")
    for each in (git, *(os.path.join(git, name) for name in _SIGNS_OF_USE)):
        with suppress(OSError):
            used = max(used, os.lstat(each).st_mtime)
    return FoundRepository(name=os.path.basename(path), path=path, used_at=int(used * 1000))
