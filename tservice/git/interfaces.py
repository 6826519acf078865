"""What git status is handed, and what other features know of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

from attrs import define, field, frozen
from zope.interface import Interface

from tservice.core.places.place import Place
from tservice.git.address import CloneSource, check_branch, check_ref, judge_source

__all__ = [
    "CloneOrder",
    "CloneProgress",
    "CloneRun",
    "CloneSource",
    "Cloned",
    "ContainerWorkspaces",
    "IGitWork",
    "Incomplete",
    "WorktreeOrder",
    "check_branch",
    "check_ref",
    "judge_source",
]


class ContainerWorkspaces(Protocol):
    """Names the folders that containers share with this machine."""

    def __call__(self) -> Iterable[str]:
        """Absolute paths; nothing at or inside one is ever inspected."""


@frozen(kw_only=True)
class CloneOrder:
    """What is to be cloned.

    @ivar target: a folder that is not there, in one that is.
    @ivar place: where it will be, and whose git does it.
    @ivar owner: the account whose it will be, among several.
    """

    source: CloneSource
    target: str
    ref: str | None = None
    shallow: bool = False
    place: Place
    owner: str | None


@frozen(kw_only=True)
class CloneProgress:
    """How far a clone is (protocol-clone).

    @ivar phase: C{connecting}, C{counting}, C{compressing}, C{receiving}, C{resolving} or
        C{checking-out}.
    @ivar percent: of this phase; C{None}: not known.
    """

    phase: str = "connecting"
    percent: int | None = None


@frozen(kw_only=True)
class Cloned:
    """What came of it.

    @ivar ref: the branch or tag that is checked out; C{None}: neither.
    @ivar warnings: what was left out, in sentences.
    """

    ref: str | None = None
    warnings: tuple[str, ...] = ()


@frozen(kw_only=True)
class Incomplete:
    """What a checkout lacks for having been made without filters and submodules.

    @ivar filters: it has files of filters.
    @ivar pointers: some of them are still pointers of Git LFS.
    @ivar submodules: some are not checked out.
    @ivar unknown: why nothing can be told; C{None}: it can.
    """

    filters: bool = False
    pointers: bool = False
    submodules: bool = False
    unknown: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a new checkout lacks, in sentences."""
        if self.unknown is not None:
            return (f"it cannot be told what is missing: {self.unknown}",)
        submodules = ("submodules were not cloned",) if self.submodules else ()
        text = "filters such as Git LFS were not run: their files hold pointers"
        return (*submodules, text) if self.filters else submodules

    @property
    def commands(self) -> tuple[str, ...]:
        """What fetches it."""
        pull = ("git lfs pull",) if self.pointers else ()
        update = ("git submodule update --init --recursive",) if self.submodules else ()
        return (*pull, *update)


@define(eq=False)
class CloneRun:
    """One clone under way.

    @ivar told: is told of progress.
    @ivar cancelled: somebody ended it.
    """

    told: Callable[[CloneProgress], object]
    cancelled: bool = False
    _end: Callable[[], object] | None = field(default=None, init=False)

    def cancel(self) -> None:
        """End it; the clone then fails."""
        self.cancelled = True
        if self._end is not None:
            self._end()

    def begun(self, end: Callable[[], object]) -> None:
        """It can be ended by C{end} from now on."""
        self._end = end
        if self.cancelled:
            end()


@frozen(kw_only=True)
class WorktreeOrder:
    """A worktree to be made.

    @ivar folder: the top of the working tree of a repository, or of one of its worktrees.
    @ivar path: where the new one will be; nothing is there.
    @ivar place: whose git does it.
    @ivar owner: the account whose it will be, among several.
    @ivar start: the branch, tag or commit where a new branch begins; C{None}: where the folder is.
    """

    folder: str
    path: str
    branch: str
    start: str | None = None
    place: Place
    owner: str | None


class IGitWork(Interface):
    """What git does beside reading.  Nothing that a repository configures is run."""

    async def clone(order: CloneOrder, run: CloneRun) -> Cloned:
        """Clone; what a failure leaves at the target is the caller's to remove.

        Raises C{ServiceError}: 422: not found, not allowed, no connection, too slow (600 s), the
        ref is not known, cancelled, or git's own words without credentials.
        """

    async def unsaved(
        folder: str, place: Place, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        """Say what would be lost with C{folder}: a sentence for each repository in it that holds
        what is nowhere else, or of which that cannot be told.

        @param owner: the account whose folder it is, among several.
        @param repository: where the repository is of which the folder is a worktree that is
            removed for good; C{None}: the folder is moved to the trash.
        """

    async def incomplete(folder: str, place: Place, owner: str | None) -> Incomplete:
        """Say what the checkout at C{folder} lacks.

        @param owner: the account whose it is, among several.
        """

    async def add_worktree(order: WorktreeOrder) -> Callable[[], Awaitable[None]]:
        """Make one; a failure leaves nothing behind.

        The branch is one that is there, one of a remote, or a new one.

        Raises C{ServiceError}: 409: the branch is checked out elsewhere, or is there although
        C{start} says where to begin; 422: there is no repository, or git refuses.

        @return: takes back the worktree, and the branch where this made it.
        """

    async def remove_worktree(path: str, repository: str, place: Place, owner: str | None) -> None:
        """Remove a worktree with what is in it; its branch stays.  What is none is left alone.

        @param repository: where its repository was when it was made.
        @param owner: the account whose it is, among several.

        Raises C{ServiceError}: 422: git refuses.
        """

    def running() -> int:
        """How many git processes there are."""

    def stop() -> Any:
        """End what runs; fires once nothing does."""
