"""Implementation of L{IGitWork<tservice.git.interfaces.IGitWork>}, which other features use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from twisted.internet.defer import Deferred, gatherResults
from zope.interface import implementer

from tservice.core.locations.location import Location
from tservice.git.changing.child_processes import GitChildRunner
from tservice.git.changing.clone import RepositoryCloner
from tservice.git.changing.missing_parts import MissingPartsFinder
from tservice.git.changing.unsaved_work import UnsavedWorkFinder
from tservice.git.changing.worktrees import WorktreeManager
from tservice.git.interfaces import (
    CloneOutcome,
    CloneRequest,
    CloneRun,
    IGitWork,
    MissingParts,
    WorktreeRequest,
)
from tservice.git.process.runner import GitRunner


@implementer(IGitWork)
class GitWork:
    """Clones, worktrees and checks for unsaved work; see L{IGitWork}."""

    def __init__(
        self,
        *,
        cloner: RepositoryCloner,
        unsaved: UnsavedWorkFinder,
        worktrees: WorktreeManager,
        incomplete: MissingPartsFinder,
        children: GitChildRunner,
        runner: GitRunner,
    ) -> None:
        self._cloner = cloner
        self._unsaved = unsaved
        self._worktrees = worktrees
        self._incomplete = incomplete
        self._children = children
        self._runner = runner

    async def clone_repository(self, order: CloneRequest, run: CloneRun) -> CloneOutcome:
        return await self._cloner.clone(order, run)

    async def find_unsaved_work(
        self, folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        return await self._unsaved.find_unsaved_work(folder, place, owner, repository)

    async def find_missing_parts(
        self, folder: str, place: Location, owner: str | None
    ) -> MissingParts:
        return await self._incomplete.find_missing_parts(folder, place, owner)

    async def add_worktree(self, order: WorktreeRequest) -> Callable[[], Awaitable[None]]:
        return await self._worktrees.add_worktree(order)

    async def remove_worktree(
        self, path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        await self._worktrees.remove_worktree(path, repository, place, owner)

    def count_processes(self) -> int:
        return self._children.running + self._runner.running

    def stop(self) -> Deferred[list[None]]:
        return gatherResults([self._children.stop(), self._runner.stop()], consumeErrors=True)
