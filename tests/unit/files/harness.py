"""A workspace in a folder of its own, and workers that work at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import bounds_of, own_location, places_of
from tservice.files.confined_path import AccessRules, ConfinedFolder, find_folder_ids
from tservice.files.model import Workspace
from tservice.files.workers import WorkspaceWorker, WorkspaceWorkers

_T = TypeVar("_T")


class AtOnce:
    """A door without threads, whose failures come out of the Deferred."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def run(
        self,
        work: Callable[[], _T],
        place: str = "",
        *,
        at: str = "",
        owner: str | None = None,
    ) -> Deferred[_T]:
        self.places.append(at)
        return maybeDeferred(work)


class WorkspaceCase(SynchronousTestCase):
    """Something to look at: a workspace, and a secret beside it."""

    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory(prefix="tsfiles")
        self.addCleanup(made.cleanup)
        self.above = Path(made.name).resolve()
        self.folder = self.above / "ws"
        self.folder.mkdir()
        self.outside = self.above / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text("outside")
        self.data = self.folder / "data"
        self.door = AtOnce()
        place = own_location(self.above)
        self.workers = WorkspaceWorkers(self.door, places_of(place), bounds_of(self.above))
        self.worker = WorkspaceWorker(self.door, place, str(self.folder), None)
        self.workspace = Workspace(session_id="s1", folder=str(self.folder))

    @property
    def closed(self) -> AccessRules:
        return AccessRules(find_folder_ids(self.data))

    def put(self, path: str, content: str | bytes = "x") -> Path:
        """A file of the workspace."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def link(self, path: str, target: str | Path) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, self.folder / path)

    def beneath(self) -> ConfinedFolder:
        found = ConfinedFolder(str(self.folder), self.closed)
        self.addCleanup(found.close)
        return found


def open_descriptors() -> int:
    """How many this process has open."""
    return len(os.listdir("/proc/self/fd"))
