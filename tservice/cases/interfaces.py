"""Interfaces of cases that other features use, and those that cases use.

Changes are published as C{case:created} and C{case:linked}, whose payload is the case,
C{case:deleted} C{{name}}, C{case:orderChanged} C{{order}} and C{case:cloneProgress} C{{name, phase,
percent}}.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Protocol

from attrs import field, frozen
from zope.interface import Interface

from tservice.cases.model import AgentMarker, CaseContainer, ContainerSettings
from tservice.core.errors import operation_failed
from tservice.core.identity import Identity
from tservice.core.locations.location import Location, LocationId

__all__ = [
    "AgentMarker",
    "CaseContainer",
    "CaseContainers",
    "CaseWorktreeRequest",
    "ContainerSettings",
    "ICases",
    "ResolvedCase",
    "WorkspaceHookWriter",
]


def _ignore_warning(warning: str) -> None:
    """Ignore the warning."""


@frozen(kw_only=True)
class CaseWorktreeRequest:
    """Request to add a worktree.

    @ivar start: branch, tag or commit at which a new branch begins; C{None}: the HEAD of the case.
    @ivar warn: called with a sentence for each part that the new worktree lacks.
    """

    branch: str
    start: str | None = None
    warn: Callable[[str], object] = field(default=_ignore_warning, eq=False, repr=False)


async def _do_nothing() -> None:
    """Do nothing: there is nothing to roll back."""


@frozen(kw_only=True)
class ResolvedCase:
    """Path and location of a case.

    @ivar name: its exact name.
    @ivar place: the location of its sessions; C{None}: that of the caller's.
    @ivar undo: removes what was made for this call, and nothing else; may be called once.
    """

    name: str
    path: str
    place: LocationId | None = None
    undo: Callable[[], Awaitable[None]] = field(default=_do_nothing, eq=False, repr=False)


class ICases(Interface):
    """Folders in which sessions may work.  Every error is a L{ServiceError}.

    C{async} methods read folders in threads: they raise 422 for one that does not answer.
    """

    def owner_of(caller: Identity) -> str | None:
        """Return the owner of things that C{caller} makes; C{None} without accounts."""

    async def resolve_folder(text: str, caller: Identity) -> str:
        """Return C{text} as a working directory.

        Raises 400: not absolute, missing, no folder, closed to the caller's OS user, or reached
        through a folder of the kernel; 403: not the caller's.
        """

    async def default_folder(caller: Identity, chosen: str | None) -> str:
        """Return the folder of a session that names none: C{chosen}, the caller's cases or home."""

    async def resolve_case(name: str, caller: Identity) -> ResolvedCase:
        """Return an existing case.

        Raises 400: no case name; 404: none; 409: it is being removed.
        """

    async def check_visible(name: str, caller: Identity) -> None:
        """Fail if C{caller} does not see that case.

        A token that is limited to sessions sees the cases that these work in, but may make children
        in any.

        @raise ServiceError: 404.
        """

    def check_not_removed(name: str, caller: Identity) -> None:
        """Fail if the case is being removed; for a caller that has waited.  Raises 409."""

    async def open_or_create(
        name: str, caller: Identity, marker: AgentMarker | None = None
    ) -> ResolvedCase:
        """Return a case; it is made if it is missing (protocol-quickstart).

        @param marker: written into a folder that this call makes.
        """

    async def add_worktree(
        name: str, wish: CaseWorktreeRequest, caller: Identity, again: Callable[[], object]
    ) -> ResolvedCase:
        """Return a case that is a new worktree of the case C{name} (protocol-worktrees).

        @param again: authorizes the caller again, before git is run and before the case is saved.
        """

    def list_container_folders() -> Iterable[str]:
        """Return the folders that containers share with this machine; git is never run in them."""


class CaseContainers(Protocol):
    """Containers of cases (protocol-containers)."""

    def find_container(self, owner: str, name: str) -> CaseContainer | None:
        """Return the container of a case; C{None}: it has none."""

    def list_folders(self) -> Iterable[str]:
        """Return the folders of all cases with containers."""

    def check_settings(self, wish: ContainerSettings) -> None:
        """Check the settings of a new container.

        @raise ServiceError: 400, 404 or 422: no such container can be made.
        """

    async def create_container(
        self, owner: str, name: str, path: str, wish: ContainerSettings, again: Callable[[], None]
    ) -> None:
        """Make the container of a new case, and start it.

        @param again: authorizes the caller again, before the container is kept.
        @raise ServiceError: 422: it cannot be made; everything is rolled back.
        """

    async def remove_container(self, owner: str, name: str) -> None:
        """Remove the container of a case, if it has one.

        @raise ServiceError: 422: it may still be there.
        """


class NoContainers:
    """Implementation of L{CaseContainers} that has and makes no containers."""

    def find_container(self, owner: str, name: str) -> CaseContainer | None:
        """Return C{None}."""
        return None

    def list_folders(self) -> Iterable[str]:
        """Return no folders."""
        return ()

    def check_settings(self, wish: ContainerSettings) -> None:
        """Fail.

        @raise ServiceError: 422.
        """
        raise operation_failed("this service makes no containers")

    async def create_container(
        self, owner: str, name: str, path: str, wish: ContainerSettings, again: Callable[[], None]
    ) -> None:
        """Fail.

        @raise ServiceError: 422.
        """
        self.check_settings(wish)

    async def remove_container(self, owner: str, name: str) -> None:
        """Do nothing: there is no container."""


class WorkspaceHookWriter(Protocol):
    """Writes the hooks of agents into folders."""

    def get_writer(self, place: Location, owner: str | None, /) -> Callable[[Path], None]:
        """Return a function that writes hooks into a folder of C{owner}, called in a thread with
        the location's rights.

        It raises C{OSError}; if hooks are switched off it does nothing.
        """
