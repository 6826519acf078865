"""A container that real sessions run in, and the multiplexer in it."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve
from twisted.internet import reactor

from tests.integration.containers.engines import PodmanEngine, TestEngine, engine_obstacle
from tests.integration.mux.harness import CAPACITY, TmuxTestCase
from tservice.containers import procfs
from tservice.containers.command_lines import ContainerSpec, EngineDialect
from tservice.containers.folders import ContainerFolders
from tservice.containers.model import ResourceLimits
from tservice.containers.transport import LIBRARY, ContainerSockets, ContainerTransport
from tservice.core.locations.location import LocationKind
from tservice.mux.interface import PaneSpec
from tservice.mux.tmux.compiled_keeper import find_compiled_keeper
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.setup import CONFIGURATION, LocalSetup, LocalSetups

IMAGE = "localhost/sessions:1"
NAME = "service-case-tests"


class ContainerTestCase(TmuxTestCase):
    """C{self.mux} in a container; one container for all tests of a class.

    A machine that runs none skips them, and the end of the run tells of it.

    @cvar kind: the engine that makes it.
    """

    kind: ClassVar[type[TestEngine]] = PodmanEngine
    engine: ClassVar[TestEngine]
    folders: ClassVar[ContainerFolders]
    tongue: ClassVar[EngineDialect]
    first: ClassVar[int]
    programs: ClassVar[dict[str, Any]] = {}

    @classmethod
    def setUpClass(cls) -> None:
        why = engine_obstacle(cls.kind.name)
        if why is not None:
            raise unittest.SkipTest(f"this machine runs no containers: {why}")
        cls.engine = cls.kind()
        cls.addClassCleanup(cls.engine.close)
        cls.engine.image(IMAGE, **cls.programs)
        cls.tongue = EngineDialect(cls.kind.name, str(cls.kind.program()))
        cls.folders = ContainerFolders(cls.engine.folder / "containers")
        keeper = find_compiled_keeper(sys.executable)
        assert keeper is not None, "the keeper was not built"
        cls.folders.write_library_files([CONFIGURATION, keeper])
        cls.folders.create_container_folders(NAME, (os.geteuid(), os.getegid()))
        workspace = cls.engine.folder / "workspace"
        workspace.mkdir()
        box = ContainerSpec(
            name=NAME, image=IMAGE, resources=ResourceLimits(memory="256m", pids=256),
            network="none",
            user=cls.tongue.user_arguments(os.geteuid(), os.getegid(), rootless=False),
            mounts=cls.folders.list_mounts(NAME, str(workspace)), labels={},
        )  # fmt: skip
        cls.engine.run(*cls.tongue.create_command(box)[1:])
        cls.begin()

    @classmethod
    def begin(cls) -> None:
        """Have the container run."""
        cls.engine.run("start", NAME)
        cls.first = int(cls.engine.run("inspect", "--format", "{{.State.Pid}}", NAME))

    def multiplexer(self) -> TmuxMultiplexer:
        """Another service on the same container."""
        mux = TmuxMultiplexer(
            self.clock,
            reactor,
            {LocationKind.LOCAL: LocalSetups(self.setup())},
            token=lambda: os.urandom(8).hex(),
            capacity=CAPACITY,
        )
        self.muxes.append(mux)
        return mux

    def setup(self) -> LocalSetup:
        folder = self.folders.socket_folder(NAME)
        transport = ContainerTransport(
            tongue=self.tongue, name=NAME, extra=(), first=lambda: self.first, folder=folder,
            environ={os.fsencode(k): os.fsencode(v) for k, v in self.engine.environ.items()},
        )  # fmt: skip
        keeper = find_compiled_keeper(sys.executable)
        assert keeper is not None
        return LocalSetup(
            transport=transport,
            sockets=ContainerSockets(folder, (os.geteuid(), os.getegid())),
            python="/usr/bin/python3",
            configuration=Path(LIBRARY) / CONFIGURATION.name,
            program=Path(LIBRARY) / keeper.name,
            is_foreign=True,
        )

    def spec(self, *argv: str, **more: object) -> PaneSpec:
        env = {"PATH": "/usr/bin", "TERM": "xterm-256color"}
        return evolve(super().spec(*argv, **more), env=env)

    async def clean(self) -> None:
        for mux in self.muxes:
            await mux.close()
        for path in self.folders.socket_folder(NAME).glob("*.sock"):
            self.end_server(path)
            path.unlink(missing_ok=True)
        self.running.stop()
        self.folder.rmdir()
        self.assertEqual([], self.clock.getDelayedCalls())

    def end_server(self, path: Path) -> None:
        """Kill whoever listens there."""
        try:
            pid = procfs.find_listener(path)
        except OSError:
            return
        os.kill(pid, 9)

    async def kill_inside(self, inner: int) -> None:
        """End a process by the number that it has inside."""
        held = procfs.open_process_by_container_pid(self.first, inner)
        assert held is not None, f"no process {inner} inside"
        await held.kill()
        held.close()
