"""Interfaces of cases for other features, and interfaces that cases use.

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
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_failure_error
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
    """Ignore the warning: the default of C{CaseWorktreeRequest.warn}."""


@frozen(kw_only=True)
class CaseWorktreeRequest:
    """Request to add a worktree.

    @ivar start: branch, tag or commit at which a new branch begins; C{None} means the HEAD of the
        case.
    @ivar warn: called with one sentence for each part that the new worktree lacks.
    """

    branch: str
    start: str | None = None
    warn: Callable[[str], object] = field(default=_ignore_warning, eq=False, repr=False)


async def _do_nothing() -> None:
    """Do nothing: there is nothing to roll back."""


@frozen(kw_only=True)
class ResolvedCase:
    """Path and location of a case.

    @ivar name: name of the case in its exact spelling.
    @ivar place: location of its sessions; C{None} means the caller's own location.
    @ivar undo: removes everything that was created for this call; may be called once.
    """

    name: str
    path: str
    place: LocationId | None = None
    undo: Callable[[], Awaitable[None]] = field(default=_do_nothing, eq=False, repr=False)


class ICases(Interface):
    """Cases and other folders in which sessions may work.

    Every error is a L{ServiceError}.

    The C{async} methods read folders in threads.  They raise 422 if a folder is not reachable.
    """

    def get_owner_name(caller: Identity) -> str | None:
        """Return the account that owns what C{caller} creates; C{None} in single-user mode."""

    async def resolve_folder(text: str, caller: Identity) -> str:
        """Return C{text} as the path of a working directory.

        Raises 400 if the path is not absolute, is missing, is no folder, or leads through a kernel
        folder.  The same applies if the caller's OS user cannot enter it.  Raises 403 if it is not
        in the caller's workspace.
        """

    async def default_folder(caller: Identity, chosen: str | None) -> str:
        """Return the working directory of a session whose request has none.

        Use C{chosen} if given, otherwise the caller's folder of cases or home folder.
        """

    async def resolve_case(name: str, caller: Identity) -> ResolvedCase:
        """Return an existing case.

        Raises 400 if the name is not valid; 404 if there is no such case; 409 if it is being
        removed.
        """

    async def check_visible(name: str, caller: Identity) -> None:
        """Fail if C{caller} may not see that case.

        A token that is limited to sessions sees only the cases in which these sessions work.  The
        token may still create child sessions in any case.

        @raise ServiceError: 404: the case does not exist or is not visible.
        """

    def check_not_removed(name: str, caller: Identity) -> None:
        """Fail with 409 if the case is being removed.  Call this after a wait."""

    async def open_or_create(
        name: str, caller: Identity, marker: AgentMarker | None = None
    ) -> ResolvedCase:
        """Return a case, and create it if it is missing (protocol-quickstart).

        @param marker: written into the folder if this call creates it.
        """

    async def add_worktree(name: str, wish: CaseWorktreeRequest, caller: Caller) -> ResolvedCase:
        """Create a case that is a new worktree of the case C{name} (protocol-worktrees).

        @param caller: authorized again before git runs and before the case is
            saved.
        """

    async def add_worktree_of_folder(
        folder: str, wish: CaseWorktreeRequest, caller: Caller
    ) -> ResolvedCase:
        """Create a case that is a new worktree of the repository in C{folder}, which need not be a
        case.

        @param folder: a path that L{resolve_folder} returned.
        @param caller: as for L{add_worktree}.
        """

    def list_container_folders() -> Iterable[str]:
        """Return the folders that containers share with this machine.

        Git is never run in them.
        """


class CaseContainers(Protocol):
    """Provider of the containers of cases (protocol-containers)."""

    def find_container(self, owner: str, name: str) -> CaseContainer | None:
        """Return the container of a case; C{None} if the case has none."""

    def list_folders(self) -> Iterable[str]:
        """Return the folders of all cases that have a container."""

    def check_settings(self, wish: ContainerSettings) -> None:
        """Check the settings of a new container.

        @raise ServiceError: 400, 404 or 422: no container can be created with these settings.
        """

    async def create_container(
        self, owner: str, name: str, path: str, wish: ContainerSettings, caller: Caller
    ) -> None:
        """Create the container of a new case, and start it.

        @param caller: authorized again before the container is saved.
        @raise ServiceError: 422: the container cannot be created; everything was rolled back.
        """

    async def remove_container(self, owner: str, name: str) -> None:
        """Remove the container of a case, if it has one.

        @raise ServiceError: 422: the container may still exist.
        """


class NoContainers:
    """Implementation of L{CaseContainers} for a service without container support."""

    def find_container(self, owner: str, name: str) -> CaseContainer | None:
        """Return C{None}, because no case has a container."""
        return None

    def list_folders(self) -> Iterable[str]:
        """Return no folders, because no case has a container."""
        return ()

    def check_settings(self, wish: ContainerSettings) -> None:
        """Refuse a new container.

        @raise ServiceError: 422: containers are not supported.
        """
        raise make_failure_error("this service makes no containers")

    async def create_container(
        self, owner: str, name: str, path: str, wish: ContainerSettings, caller: Caller
    ) -> None:
        """Refuse to create a container.

        @raise ServiceError: 422: containers are not supported.
        """
        self.check_settings(wish)

    async def remove_container(self, owner: str, name: str) -> None:
        """Do nothing: there is no container."""


class WorkspaceHookWriter(Protocol):
    """Writes the configuration of agents' hooks into folders."""

    def get_writer(self, place: Location, owner: str | None, /) -> Callable[[Path], None]:
        """Return a function that writes hooks into a folder of C{owner}.

        The function is called in a thread, as the OS user of the location.  The function raises
        C{OSError}, and does nothing if hooks are disabled.
        """
