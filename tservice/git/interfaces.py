"""Interfaces of git operations that other features use, and of functions that they provide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

from attrs import define, field, frozen
from zope.interface import Interface

from tservice.core.locations.location import Location
from tservice.git.clone_address import CloneSource, check_branch, check_ref, parse_source

__all__ = [
    "CloneOutcome",
    "CloneProgress",
    "CloneRequest",
    "CloneRun",
    "CloneSource",
    "ContainerWorkspaces",
    "IGitWork",
    "MissingParts",
    "WorktreeRequest",
    "check_branch",
    "check_ref",
    "parse_source",
]


class ContainerWorkspaces(Protocol):
    """Callable that lists the folders which containers share with this machine."""

    def __call__(self) -> Iterable[str]:
        """Return absolute paths.  Git is never run at or inside one of them."""


@frozen(kw_only=True)
class CloneRequest:
    """Request to clone a repository.

    @ivar target: path of the new folder; its parent folder must exist.
    @ivar place: location of the target; git runs there.
    @ivar owner: account that will own the clone; C{None} in single-user mode.
    """

    source: CloneSource
    target: str
    ref: str | None = None
    shallow: bool = False
    place: Location
    owner: str | None


@frozen(kw_only=True)
class CloneProgress:
    """Progress of a clone (protocol-clone).

    @ivar phase: C{connecting}, C{counting}, C{compressing}, C{receiving}, C{resolving} or
        C{checking-out}.
    @ivar percent: completed part of this phase; C{None} if unknown.
    """

    phase: str = "connecting"
    percent: int | None = None


@frozen(kw_only=True)
class CloneOutcome:
    """Result of a clone.

    @ivar ref: the branch or tag that is checked out; C{None} if HEAD is at neither.
    @ivar warnings: one sentence for each part that was left out.
    """

    ref: str | None = None
    warnings: tuple[str, ...] = ()


@frozen(kw_only=True)
class MissingParts:
    """Missing parts of a checkout that was made without filters and submodules.

    @ivar filters: true if the checkout has files with filters.
    @ivar pointers: true if some of these files are still Git LFS pointers.
    @ivar submodules: true if a submodule is not checked out.
    @ivar unknown: reason why the parts cannot be determined; C{None} if they were.
    """

    filters: bool = False
    pointers: bool = False
    submodules: bool = False
    unknown: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user, one for each kind of missing part."""
        if self.unknown is not None:
            return (f"missing parts could not be determined: {self.unknown}",)
        submodules = ("submodules were not cloned",) if self.submodules else ()
        text = "filters such as Git LFS were not run: their files hold pointers"
        return (*submodules, text) if self.filters else submodules

    @property
    def fetch_commands(self) -> tuple[str, ...]:
        """Shell commands that fetch the missing parts."""
        pull = ("git lfs pull",) if self.pointers else ()
        update = ("git submodule update --init --recursive",) if self.submodules else ()
        return (*pull, *update)


@define(eq=False)
class CloneRun:
    """Running clone, which can be cancelled.

    @ivar on_progress: called with each new progress.
    @ivar cancelled: true after a user cancelled the clone.
    """

    on_progress: Callable[[CloneProgress], object]
    cancelled: bool = False
    _end: Callable[[], object] | None = field(default=None, init=False)

    def cancel(self) -> None:
        """Kill the clone, which then fails."""
        self.cancelled = True
        if self._end is not None:
            self._end()

    def set_kill(self, end: Callable[[], object]) -> None:
        """Register the function C{end}, which kills the clone's process."""
        self._end = end
        if self.cancelled:
            end()


@frozen(kw_only=True)
class WorktreeRequest:
    """Request to add a worktree.

    @ivar folder: top folder of the repository's working tree, or of one of its worktrees.
    @ivar path: path of the new worktree; nothing exists there yet.
    @ivar place: location in which git runs.
    @ivar owner: account that will own the worktree; C{None} in single-user mode.
    @ivar start: branch, tag or commit at which a new branch begins; C{None} means the HEAD of
        C{folder}.
    """

    folder: str
    path: str
    branch: str
    start: str | None = None
    place: Location
    owner: str | None


class IGitWork(Interface):
    """Git operations for other features.

    No program that a repository configures is run.
    """

    async def clone_repository(order: CloneRequest, run: CloneRun) -> CloneOutcome:
        """Clone a repository.  After a failure the caller has to remove the target folder.

        Raises C{ServiceError} 422 with the reason: the repository was not found, access was denied,
        there was no connection, or the ref is unknown.  Other reasons are the time limit (600 s),
        cancellation, or git's error text without credentials.
        """

    async def find_unsaved_work(
        folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        """Return a sentence for each repository in C{folder} whose work would be lost with the
        folder.

        A repository that cannot be read gets a sentence as well.

        @param owner: account that owns the folder; C{None} in single-user mode.
        @param repository: the main repository if C{folder} is a worktree that is removed for good;
            C{None} if the folder is moved to the trash.
        """

    async def find_missing_parts(folder: str, place: Location, owner: str | None) -> MissingParts:
        """Return the missing parts of the checkout at C{folder}.

        @param owner: account that owns the folder; C{None} in single-user mode.
        """

    async def add_worktree(order: WorktreeRequest) -> Callable[[], Awaitable[None]]:
        """Add a worktree.  A failure is rolled back.

        The worktree gets an existing branch, a branch of a remote, or a new one.

        Raises C{ServiceError} 409 if the branch is checked out elsewhere, or exists although
        C{start} is given; 422 if there is no repository, or git refuses.

        @return: a function that removes the worktree, and the branch if it was created.
        """

    async def remove_worktree(
        path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        """Remove a worktree with its content.  Its branch is kept.

        A folder that is not a worktree is not changed.

        @param repository: path of the repository when the worktree was created.
        @param owner: account that owns the worktree; C{None} in single-user mode.

        Raises C{ServiceError}: 422: git refuses.
        """

    def count_processes() -> int:
        """Return the number of running git processes."""

    def stop() -> Any:
        """Kill all processes.  The result fires after the last one has ended."""
