"""The status file that pi writes by an extension."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import ensureDeferred

from tests.frames import HERE
from tests.unit.agents.harness import AgentHarnessCase
from tests.waiting import PATIENCE
from tservice.agents.channels.build import build_server_channels
from tservice.agents.channels.codex.sockets import CodexSockets
from tservice.agents.channels.status_channel import StatusChannel
from tservice.agents.channels.status_folders import StatusFolders
from tservice.clis.agents.pi.status_channel import EXTENSION, STATUS_CHANNEL
from tservice.clis.interfaces import LaunchPlan
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.locations.location import Location
from tservice.sessions.interfaces import Session

_T = TypeVar("_T")
BUSY = (HERE / "pi/120x40_busy_early.txt").read_text("utf-8")
IDLE = (HERE / "pi/11_after_turn.txt").read_text("utf-8")


async def run_now(work: Callable[[], None]) -> None:
    """Run blocking work at once."""
    work()


class PiStatusTests(AgentHarnessCase):
    """L{StatusChannel}, with a session of pi and a folder whose changes the test announces."""

    def setUp(self) -> None:
        super().setUp()
        self.machine.install("pi")
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir(mode=0o700)
        self.heard: list[Callable[[], None]] = []
        self.patch(CodexSockets, "get_path", lambda _, name: self.folder / f"{name}.sock")
        self.patch(type(self.machine.clis), "_read_version", self.read_version)
        self.version = "1.6.0"
        ground = self.machine.ground()
        self.channels = build_server_channels(
            ground, self.agents.agents, self.machine.clis, self.agents.hooks
        )
        channel = StatusChannel(
            self.clock,
            lambda: self.sessions,
            self.agents.agents,
            self.machine.clis,
            self.machine.settings,
            ground.locations,
            lambda tell: StatusFolders(self.clock, self.watch, self.run_here, tell),
            self.channels.servers,
            self.channels.sockets.get_path,
        )
        channel.start(self.machine.hub)
        self.addCleanup(channel.close)

    async def read_version(self, *request: Any) -> str:
        return self.version

    async def run_here(
        self, place: Location, work: Callable[[], _T], at: str, owner: str | None
    ) -> _T:
        return work()

    def watch(self, folder: int, heard: Callable[[], None]) -> Callable[[], None]:
        self.heard.append(heard)
        return lambda: self.heard.remove(heard)

    def write(self, session: Session, status: str) -> None:
        """The extension writes the file; its process is not the one in the pane."""
        text = {"pid": 1, "status": status, "statusUpdatedAt": get_unix_ms(self.clock)}
        (self.folder / f"{session.id}.json").write_text(json.dumps(text))
        for heard in tuple(self.heard):
            heard()

    def test_end_of_a_turn_is_seen_before_the_screen_shows_it(self) -> None:
        session = self.agent(IDLE, mode="pi")
        self.show(session, BUSY)
        self.write(session, "busy")
        self.spend(1)
        self.assertEqual("busy", self.status(session)[0])
        self.write(session, "idle")
        self.spend(0.15)
        self.assertEqual(("idle", "status file: idle"), self.status(session))

    def test_page_of_a_person_is_no_difference(self) -> None:
        session = self.agent(IDLE, mode="pi")
        self.write(session, "idle")
        self.show(session, (HERE / "pi/newest/v16_120x40_trust.txt").read_text("utf-8"))
        self.spend(5)
        self.assertIsNone(self.sessions.get(session.id).status_conflict)

    def add_channel(self, session: Session, *argv: str) -> tuple[str, ...]:
        plan = LaunchPlan(argv=argv, env={}, params={})
        return self.successResultOf(
            ensureDeferred(self.channels.launch.add_channel(session, plan))
        ).argv

    def test_session_starts_with_the_extension(self) -> None:
        session = self.agent(IDLE, mode="pi")
        found = self.add_channel(session, "/bin/pi", "--session", "0a")
        file = str(self.folder / f"{session.id}.json")
        usual = ("/bin/pi", "--session", "0a")
        self.assertEqual((file, *usual, "--extension", str(EXTENSION)), found[4:])

    def test_status_files_go_with_the_session(self) -> None:
        names = ("x.json", "x.json.new", "y.json")
        for name in names:
            (self.folder / name).touch()
        self.successResultOf(ensureDeferred(CodexSockets(self.folder, run_now).remove("x")))
        self.assertEqual(["y.json"], [each.name for each in self.folder.iterdir()])

    def test_older_version_starts_as_usual(self) -> None:
        session = self.agent(IDLE, mode="pi")
        self.version = "0.73.1"
        self.assertEqual(("/bin/pi",), self.add_channel(session, "/bin/pi"))

    def test_earlier_status_is_removed_at_the_start(self) -> None:
        file = self.folder / "x.json"
        file.write_text("old")
        show = "import os, sys; print(os.environ['TSERVICE_STATUS_FILE'], *sys.argv[1:])"
        argv = STATUS_CHANNEL.build_argv((sys.executable, "-c", show, "a b"), file)
        ended = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=PATIENCE)
        self.assertEqual(f"{file} a b --extension {EXTENSION}\n", ended.stdout)
        self.assertFalse(file.exists())
