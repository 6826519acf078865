"""Cases on a fake git, real folders and a clock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from zope.interface import implementer

from tservice.cases.build import build_cases
from tservice.cases.service import CaseService
from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.core.locations.location import Location, LocationId
from tservice.git.interfaces import (
    CloneOutcome,
    CloneProgress,
    CloneRequest,
    CloneRun,
    IGitWork,
    MissingParts,
    WorktreeRequest,
)
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


@define(eq=False)
class FakeClone:
    """One that a test ends, by L{finish} or L{fail}."""

    order: CloneRequest
    run: CloneRun
    over: Deferred[CloneOutcome] = field(factory=Deferred)

    def progress(self, phase: str, percent: int | None = None) -> None:
        """Git said how far it is."""
        self.run.on_progress(CloneProgress(phase=phase, percent=percent))

    def finish(self, *warnings: str) -> None:
        """It is done."""
        self.over.callback(CloneOutcome(ref="main", warnings=warnings))

    def fail(self, text: str = "not found") -> None:
        """It is over without a clone; what it has made so far is left to whoever asked."""
        self.over.errback(make_failure_error(text))


@implementer(IGitWork)
class FakeGit:
    """Does to folders what git would.

    @ivar lost: what is told of any folder.
    @ivar lacking: what every checkout lacks.
    @ivar error: what every worktree fails with.
    @ivar places: where something was done.
    @ivar owners: and for which account.
    """

    def __init__(self) -> None:
        self.clones: list[FakeClone] = []
        self.orders: list[WorktreeRequest] = []
        self.lost: tuple[str, ...] = ()
        self.lacking = MissingParts()
        self.error: ServiceError | None = None
        self.places: list[LocationId] = []
        self.owners: list[str | None] = []

    async def clone_repository(self, order: CloneRequest, run: CloneRun) -> CloneOutcome:
        self._note(order.place, order.owner)
        (Path(order.target) / ".git").mkdir(parents=True)
        clone = FakeClone(order, run)
        self.clones.append(clone)
        run.set_kill(lambda: clone.fail("the clone was cancelled"))
        return await clone.over

    async def find_unsaved_work(
        self, folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        self._note(place, owner)
        return self.lost

    async def find_missing_parts(
        self, folder: str, place: Location, owner: str | None
    ) -> MissingParts:
        self._note(place, owner)
        return self.lacking

    async def add_worktree(self, order: WorktreeRequest) -> Callable[[], Awaitable[None]]:
        self._note(order.place, order.owner)
        if self.error is not None:
            raise self.error
        self.orders.append(order)
        os.mkdir(order.path)

        async def undo() -> None:
            shutil.rmtree(order.path)

        return undo

    async def remove_worktree(
        self, path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        self._note(place, owner)
        if self.error is not None:
            raise self.error
        shutil.rmtree(path)

    def count_processes(self) -> int:
        return len(self.clones)

    def stop(self) -> Deferred[None]:
        return succeed(None)

    def _note(self, place: Location, owner: str | None) -> None:
        self.places.append(place.id)
        self.owners.append(owner)


class FakeHooks:
    """Writes what the hooks of an agent would be.

    @ivar error: what it fails with, once the folder is there.
    """

    def __init__(self) -> None:
        self.error: OSError | None = None

    def get_writer(self, place: Location, owner: str | None) -> Callable[[Path], None]:
        def write(folder: Path) -> None:
            (folder / ".claude").mkdir()
            if self.error is not None:
                raise self.error
            (folder / ".claude" / "settings.local.json").write_text("{}")

        return write


def build_fake_cases(
    ground: Runtime,
    sessions: Callable[[], ISessions],
    git: FakeGit | None = None,
    hooks: FakeHooks | None = None,
) -> FeatureRegistration[CaseService]:
    """The cases of a test."""
    return build_cases(ground, git=git or FakeGit(), hooks=hooks or FakeHooks(), sessions=sessions)


def folder_tree(folder: Path) -> dict[str, str]:
    """Everything below a folder: C{/} for folders, C{->} for links, else the content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = "/" if path.is_dir() else path.read_text()
    return found
