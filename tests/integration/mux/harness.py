"""A multiplexer on the real tmux: own sockets, own clock, nothing left behind."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, LoopingCall, deferLater
from twisted.internet.utils import getProcessValue
from twisted.trial.unittest import TestCase
from zope.interface import implementer

from tests.evidence import read_screens, register_source, unregister_source
from tests.runtime_harness import HERE, own_setups
from tests.waiting import PATIENCE
from tservice.core.locations.location import LocationKind
from tservice.mux.interface import IPaneListener, PaneExit, PaneSpec
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.compiled_keeper import find_compiled_keeper
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.pane import TmuxPane
from tservice.mux.tmux.setup import ServerSetups
from tservice.mux.tmux.sockets import SocketFolder

TMUX = os.environ.get("TSERVICE_TEST_TMUX") or shutil.which("tmux") or "/usr/bin/tmux"
"""Of this machine, unless another one is named that the multiplexer's suites are to run on."""
CAPACITY = 32 * 1024 * 1024
STEP = 0.005

SHELL = """
printf '\\033[?2004h'
while printf '$ ' && IFS= read -r line; do
  case $line in
    "echo "*) echo "${line#echo }";;
    "exit "*) exit "${line#exit }";;
    "eval "*) eval "${line#eval }";;
    *) echo "$line: not found";;
  esac
done
"""
"""A line shell that prints what the fake's does; its terminal echoes."""


@implementer(IPaneListener)
class RecordingPaneListener:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.exits: list[PaneExit] = []
        self.lost = 0
        self.sizes: list[tuple[int, int]] = []
        self.titles: list[str] = []

    def pane_exited(self, ending: PaneExit) -> None:
        self.exits.append(ending)

    def pane_lost(self) -> None:
        self.lost += 1

    def pane_resized(self, cols: int, rows: int) -> None:
        self.sizes.append((cols, rows))

    def pane_titled(self, title: str) -> None:
        self.titles.append(title)


def command_lines(pid: str = "[0-9]*") -> list[bytes]:
    """The command line of every process, or of one."""
    found = []
    for folder in Path("/proc").glob(pid):
        try:
            found.append((folder / "cmdline").read_bytes())
        except OSError:
            continue
    return found


class TmuxTestCase(TestCase):
    """C{self.mux} on sockets of its own.

    Its clock is a C{Clock} that follows the real time; a test that wants a time-out advances it.
    """

    timeout = 300
    pane_place = HERE
    keeper = find_compiled_keeper(sys.executable)

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ts-"))
        register_source(self, lambda: read_screens(self.folder / "mux"))
        self.clock = Clock()
        self.clock.advance(1_800_000_000)
        self.running = LoopingCall(self.clock.advance, STEP)
        self.running.start(STEP, now=False).addErrback(lambda why: why.raiseException())
        self.muxes: list[TmuxMultiplexer] = []
        self.mux = self.multiplexer()
        self.addCleanup(lambda: Deferred.fromCoroutine(self.clean()))

    def multiplexer(self) -> TmuxMultiplexer:
        """Another service on the same sockets."""
        mux = TmuxMultiplexer(
            self.clock,
            reactor,
            self.setups(),
            token=lambda: secrets.token_hex(8),
            capacity=CAPACITY,
        )
        self.muxes.append(mux)
        return mux

    def setups(self) -> Mapping[LocationKind, ServerSetups]:
        """How tmux runs where the panes are."""
        transport = LocalTransport(TMUX, shutil.which("setpriv"))
        return own_setups(transport, SocketFolder(self.folder), self.keeper)

    async def clean(self) -> None:
        unregister_source(self)
        for mux in self.muxes:
            await mux.close()
        for path in (self.folder / "mux").glob("*.sock"):
            await getProcessValue(TMUX, ["-N", "-S", str(path), "kill-server"], env={})
        self.running.stop()
        shutil.rmtree(self.folder)
        self.assertEqual([], self.clock.getDelayedCalls())

    def spec(self, *argv: str, **more: object) -> PaneSpec:
        """C{argv}, or the line shell."""
        given = {
            "session_id": str(uuid.uuid4()),
            "argv": argv or ("sh", "-c", SHELL),
            "env": {"PATH": os.environ["PATH"], "TERM": "xterm-256color"},
            "cwd": "/",
            "cols": 80,
            "rows": 24,
            "place": self.pane_place,
        }
        return PaneSpec(**{**given, **more})  # type: ignore[arg-type]

    async def until(self, true: Callable[[], object], what: str = "it") -> None:
        """Wait until C{true()}; fail after L{PATIENCE} seconds."""
        end = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > end:
                self.fail(f"waited in vain for {what}")
            await self.pause(STEP)

    async def until_dead(self, pane: TmuxPane) -> None:
        """Wait until the keeper is over, and tmux knows."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            blocks = await pane.link.send_command(b"display-message -p '#{pane_dead}'")
            if int(blocks[0].lines[0]):
                return
            await self.pause(0.05)
        self.fail("the keeper goes on")

    async def until_alone(self, pane: TmuxPane) -> None:
        """Wait until the server has no other client: nothing that one has sent comes any more."""
        while len((await pane.link.send_command(b"list-clients"))[0].lines) > 1:
            await self.pause(STEP)

    async def pause(self, seconds: float) -> None:
        """Let the reactor turn for a real moment."""
        await deferLater(reactor, seconds, lambda: None)

    async def server_pid(self, pane: TmuxPane) -> int:
        """The number of the pane's tmux server."""
        blocks = await pane.link.send_command(b"display-message -p '#{pid}'")
        return int(blocks[0].lines[0])

    def stop(self, pid: int) -> None:
        """Stop a process until the test is over."""
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(_go_on, pid)


def _go_on(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return


def logged_output(pane: TmuxPane, start: int | None = None) -> bytes:
    """What the log holds from C{start}."""
    log = pane.log
    at = log.start if start is None else start
    return log.read(at, log.end - at)
