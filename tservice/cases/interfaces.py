"""What other features know of cases.

Changes are told by C{case:created} and C{case:linked}, whose payload is the case,
C{case:deleted} C{{name}}, C{case:orderChanged} C{{order}} and C{case:cloneProgress}
C{{name, phase, percent}}.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Protocol

from attrs import field, frozen
from zope.interface import Interface

from tservice.cases.model import CaseContainer, ContainerWish, Marker
from tservice.core.errors import failed
from tservice.core.identity import Identity
from tservice.core.places.place import Place, PlaceId

__all__ = [
    "CaseContainer",
    "CasePlace",
    "ContainerWish",
    "ICases",
    "IContainers",
    "Marker",
    "WorkspaceHooks",
    "WorktreeWish",
]


def _unheard(warning: str) -> None:
    """Nobody wants to know."""


@frozen(kw_only=True)
class WorktreeWish:
    """A worktree that is to be made.

    @ivar start: the branch, tag or commit where a new branch begins; C{None}: where the case is.
    @ivar warn: is told what the new worktree lacks, a sentence each.
    """

    branch: str
    start: str | None = None
    warn: Callable[[str], object] = field(default=_unheard, eq=False, repr=False)


async def _nothing() -> None:
    """There is nothing to take back."""


@frozen(kw_only=True)
class CasePlace:
    """Where a case is.

    @ivar name: as it is really written.
    @ivar place: where its sessions live; C{None}: where the caller's do.
    @ivar undo: takes back what was made for this call, and nothing else; may be called once.
    """

    name: str
    path: str
    place: PlaceId | None = None
    undo: Callable[[], Awaitable[None]] = field(default=_nothing, eq=False, repr=False)


class ICases(Interface):
    """Where sessions may work.  Every error is a L{ServiceError}.

    What is C{async} looks at folders, in threads: it raises 422 for one that does not answer.
    """

    def owner_of(caller: Identity) -> str | None:
        """Whose the things are that C{caller} makes; C{None} where there are no accounts."""

    async def folder(text: str, caller: Identity) -> str:
        """C{text} as a working directory.

        Raises 400: not absolute, missing, no folder, closed to the caller's OS user, or reached
        through a folder of the kernel; 403: not the caller's.
        """

    async def default(caller: Identity, chosen: str | None) -> str:
        """Where a session works that does not say: C{chosen}, the caller's cases, or home."""

    async def case(name: str, caller: Identity) -> CasePlace:
        """A case that is there.  Raises 400: no case name; 404: none; 409: it is being removed."""

    async def reached(name: str, caller: Identity) -> None:
        """Nothing, where C{caller} sees that case: a token that is bound to sessions sees those
        that they work in, and still makes children in any.

        @raise ServiceError: 404.
        """

    def refuse_removed(name: str, caller: Identity) -> None:
        """Whether it still is there, for whoever has waited since.  Raises 409."""

    async def open(name: str, caller: Identity, marker: Marker | None = None) -> CasePlace:
        """A case, made where it is missing (protocol-quickstart).

        @param marker: what is noted in a folder that this call makes.
        """

    async def add_worktree(
        name: str, wish: WorktreeWish, caller: Identity, again: Callable[[], object]
    ) -> CasePlace:
        """A case that is a new worktree of the case C{name} (protocol-worktrees).

        @param again: judges the caller once more, before git is run and before it is kept.
        """

    def container_folders() -> Iterable[str]:
        """The folders that containers share with this machine; git looks at none of them."""


class IContainers(Protocol):
    """The containers of cases (protocol-containers)."""

    def of(self, owner: str, name: str) -> CaseContainer | None:
        """That of a case; C{None}: it has none."""

    def folders(self) -> Iterable[str]:
        """The folders of all cases that have one."""

    def judge(self, wish: ContainerWish) -> None:
        """@raise ServiceError: 400, 404 or 422: nobody could make that."""

    async def attach(
        self, owner: str, name: str, path: str, wish: ContainerWish, again: Callable[[], None]
    ) -> None:
        """Make the container of a new case, and have it run.

        @param again: judges the caller once more, before the container is kept.
        @raise ServiceError: 422: it cannot be made; nothing is left of it.
        """

    async def detach(self, owner: str, name: str) -> None:
        """Remove the container of a case, if it has one.

        @raise ServiceError: 422: it may still be there.
        """


class NoContainers:
    """There are none, and none can be made."""

    def of(self, owner: str, name: str) -> CaseContainer | None:
        """None has one."""
        return None

    def folders(self) -> Iterable[str]:
        """There is none."""
        return ()

    def judge(self, wish: ContainerWish) -> None:
        """@raise ServiceError: 422."""
        raise failed("this service makes no containers")

    async def attach(
        self, owner: str, name: str, path: str, wish: ContainerWish, again: Callable[[], None]
    ) -> None:
        """@raise ServiceError: 422."""
        self.judge(wish)

    async def detach(self, owner: str, name: str) -> None:
        """There is nothing to remove."""


class WorkspaceHooks(Protocol):
    """Puts the hooks of agents into folders."""

    def writer(self, place: Place, owner: str | None, /) -> Callable[[Path], None]:
        """What writes them into a folder of C{owner}'s, called in a thread with the place's rights.

        It raises C{OSError}; where hooks are switched off it does nothing.
        """
