"""Git operations for other features."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from twisted.internet.defer import Deferred, gatherResults
from zope.interface import implementer

from tservice.core.places.location import Location
from tservice.git.changing.child import Children
from tservice.git.changing.clone import Cloner
from tservice.git.changing.incomplete import IncompleteCheckouts
from tservice.git.changing.unsaved import UnsavedWork
from tservice.git.changing.worktrees import GitWorktrees
from tservice.git.interfaces import (
    Cloned,
    CloneOrder,
    CloneRun,
    IGitWork,
    Incomplete,
    WorktreeOrder,
)
from tservice.git.runner import GitRunner


@implementer(IGitWork)
class GitWork:
    """See L{IGitWork}."""

    def __init__(
        self,
        *,
        cloner: Cloner,
        unsaved: UnsavedWork,
        worktrees: GitWorktrees,
        incomplete: IncompleteCheckouts,
        children: Children,
        runner: GitRunner,
    ) -> None:
        self._cloner = cloner
        self._unsaved = unsaved
        self._worktrees = worktrees
        self._incomplete = incomplete
        self._children = children
        self._runner = runner

    async def clone(self, order: CloneOrder, run: CloneRun) -> Cloned:
        return await self._cloner.clone(order, run)

    async def unsaved(
        self, folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        return await self._unsaved.tell(folder, place, owner, repository)

    async def incomplete(self, folder: str, place: Location, owner: str | None) -> Incomplete:
        return await self._incomplete.look(folder, place, owner)

    async def add_worktree(self, order: WorktreeOrder) -> Callable[[], Awaitable[None]]:
        return await self._worktrees.add(order)

    async def remove_worktree(
        self, path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        await self._worktrees.remove(path, repository, place, owner)

    def running(self) -> int:
        return self._children.running + self._runner.running

    def stop(self) -> Deferred[list[None]]:
        return gatherResults([self._children.stop(), self._runner.stop()], consumeErrors=True)
