"""Working copies in a location that is reached by a shell, which is one of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet import reactor

from tests.runtime_harness import places_of
from tests.unit.git.random_repositories import ENVIRON
from tservice.core.locations.location import Location, LocationShell
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.interfaces import WorkingCopy
from tservice.git.location_shell.location_copy import LocationCopies
from tservice.git.location_shell.shell_runner import LocationShellRunner
from tservice.mux.remote.shell_quoting import HEARING
from tservice.runtime.local_location_setup import build_own_location


def make_shell() -> LocationShell:
    """Return a shell of this machine."""
    return LocationShell(argv=["/bin/sh", *HEARING[1:]], env={"PATH": os.environ["PATH"]})


def make_far_location(folder: Path, find_shell: Any = make_shell) -> Location:
    """Return the own location, as if it were reached by a shell alone."""
    environ = {**ENVIRON, "HOME": str(folder), "PATH": os.environ["PATH"]}
    own = build_own_location(folder / "data", environ, folder, lambda names: None, uid=os.getuid())
    return evolve(own, find_shell=find_shell, has_local_files=False, unreadable_reason="remote")


class ShellCopies:
    """Opener of the working copies of one folder, by a shell."""

    def __init__(
        self, folder: Path, find_shell: Any = make_shell, home: Path | None = None
    ) -> None:
        tools = find_child_tools(os.environ["PATH"])
        self.shells = LocationShellRunner(ChildRunner(reactor, reactor, tools))
        self.far = LocationCopies(shells=self.shells, threads=SynchronousThreads())
        self.folder, self.place = folder, make_far_location(home or folder.parent, find_shell)

    async def open_working_copies(self, session_id: str) -> Sequence[WorkingCopy]:
        return await self.far.open_working_copies(self.place, str(self.folder), None, 12)


class ShellMixin:
    """Working copies by a shell."""

    folder: Path

    def make_copies(self) -> ShellCopies:
        return ShellCopies(self.folder)

    def make_places(self, own: Location) -> LocationRegistry:
        return places_of(evolve(own, find_shell=make_shell, unreadable_reason="remote"))
