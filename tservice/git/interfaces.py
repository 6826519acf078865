"""Interfaces of git that other features use, and those that git uses."""

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
    """Lists the folders that containers share with this machine."""

    def __call__(self) -> Iterable[str]:
        """Return absolute paths; nothing at or inside one is ever inspected."""


@frozen(kw_only=True)
class CloneRequest:
    """Request to clone a repository.

    @ivar target: a folder that does not exist, in one that does.
    @ivar place: the location of the target, whose git is run.
    @ivar owner: the account that will own it, if there are several.
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
    @ivar percent: of this phase; C{None}: not known.
    """

    phase: str = "connecting"
    percent: int | None = None


@frozen(kw_only=True)
class CloneOutcome:
    """Result of a clone.

    @ivar ref: the branch or tag that is checked out; C{None}: neither.
    @ivar warnings: parts that were left out, as sentences.
    """

    ref: str | None = None
    warnings: tuple[str, ...] = ()


@frozen(kw_only=True)
class MissingParts:
    """Missing parts of a checkout that was made without filters and submodules.

    @ivar filters: it has files with filters.
    @ivar pointers: some of them are still pointers of Git LFS.
    @ivar submodules: some are not checked out.
    @ivar unknown: why this cannot be determined; C{None}: it can.
    """

    filters: bool = False
    pointers: bool = False
    submodules: bool = False
    unknown: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Missing parts of a new checkout, as sentences."""
        if self.unknown is not None:
            return (f"missing parts could not be determined: {self.unknown}",)
        submodules = ("submodules were not cloned",) if self.submodules else ()
        text = "filters such as Git LFS were not run: their files hold pointers"
        return (*submodules, text) if self.filters else submodules

    @property
    def fetch_commands(self) -> tuple[str, ...]:
        """Commands that fetch the missing parts."""
        pull = ("git lfs pull",) if self.pointers else ()
        update = ("git submodule update --init --recursive",) if self.submodules else ()
        return (*pull, *update)


@define(eq=False)
class CloneRun:
    """Running clone.

    @ivar told: called with its progress.
    @ivar cancelled: a user cancelled it.
    """

    on_progress: Callable[[CloneProgress], object]
    cancelled: bool = False
    _end: Callable[[], object] | None = field(default=None, init=False)

    def cancel(self) -> None:
        """Cancel it; the clone then fails."""
        self.cancelled = True
        if self._end is not None:
            self._end()

    def set_kill(self, end: Callable[[], object]) -> None:
        """Register C{end}, which kills the clone."""
        self._end = end
        if self.cancelled:
            end()


@frozen(kw_only=True)
class WorktreeRequest:
    """Request to add a worktree.

    @ivar folder: the top of the working tree of a repository, or of one of its worktrees.
    @ivar path: path of the new worktree, where nothing exists.
    @ivar place: the location whose git is run.
    @ivar owner: the account that will own it, if there are several.
    @ivar start: branch, tag or commit at which a new branch begins; C{None}: the HEAD of C{folder}.
    """

    folder: str
    path: str
    branch: str
    start: str | None = None
    place: Location
    owner: str | None


class IGitWork(Interface):
    """Git operations beyond reading.  Nothing that a repository configures is run."""

    async def clone_repository(order: CloneRequest, run: CloneRun) -> CloneOutcome:
        """Clone a repository; after a failure the caller has to remove the target.

        Raises C{ServiceError}: 422: not found, not allowed, no connection, too slow (600 s), the
        ref is not known, cancelled, or git's error text without credentials.
        """

    async def find_unsaved_work(
        folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        """Return a sentence for each repository in C{folder} whose work would be lost with the
        folder.

        A repository that cannot be read gets a sentence as well.

        @param owner: the account that owns the folder, if there are several.
        @param repository: the repository of the worktree C{folder}, which is removed for good;
            C{None}: the folder is moved to the trash.
        """

    async def find_missing_parts(folder: str, place: Location, owner: str | None) -> MissingParts:
        """Return the missing parts of the checkout at C{folder}.

        @param owner: the account that owns it, if there are several.
        """

    async def add_worktree(order: WorktreeRequest) -> Callable[[], Awaitable[None]]:
        """Add a worktree; a failure is rolled back.

        Its branch is an existing one, one of a remote, or a new one.

        Raises C{ServiceError}: 409: the branch is checked out elsewhere, or exists although
        C{start} is given; 422: there is no repository, or git refuses.

        @return: a function that removes the worktree, and the branch if it was created.
        """

    async def remove_worktree(
        path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        """Remove a worktree with its content; its branch stays.  Anything but a worktree is left
        alone.

        @param repository: path of its repository at its creation.
        @param owner: the account that owns it, if there are several.

        Raises C{ServiceError}: 422: git refuses.
        """

    def count_processes() -> int:
        """Return the number of git processes."""

    def stop() -> Any:
        """Kill all processes; fires after the last one ended."""
