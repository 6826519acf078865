"""Servers that lie: a session's server is its OS user's, who can put anything in its place."""

from __future__ import annotations

import gc
import resource
import shutil
import socket
import sys
import time
import uuid
from itertools import pairwise
from pathlib import Path

import pytest
from twisted.internet import reactor
from twisted.internet.task import LoopingCall

from tests.integration.mux import fake_tmux
from tests.integration.mux.harness import (
    CAPACITY,
    RecordingPaneListener,
    TmuxTestCase,
    logged_output,
)
from tests.run_figures import report_figure
from tests.runtime_harness import HERE, own_setups
from tservice.mux.interface import MuxError
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.commands import _FIELDS, TITLE_BYTES
from tservice.mux.tmux.control_client import MAX_ERROR_TEXT, ControlClient
from tservice.mux.tmux.control_parser import MAX_BLOCK
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.pane import TmuxPane
from tservice.mux.tmux.sockets import SocketFolder

ATTACK_SECONDS = 1.0
"""How long each stream runs, or until the service has ended it and attached anew."""
MEMORY = 3 * MAX_BLOCK
"""Bytes by which the process may grow, its allocator's habits included."""
HONEST = {
    "tservice_token": "TOKEN",
    "pane_pid": "1",
    "pane_width": "80",
    "pane_height": "24",
    "window_activity": "1",
}


class FakeServerTests(TmuxTestCase):
    """A liar beside an honest session of somebody else.

    @ivar longest: seconds of processor time in the longest turn of the reactor, by scenario.
    """

    def setUp(self) -> None:
        super().setUp()
        self.longest: dict[str, float] = {}
        # What earlier tests of this process left is not looked through in a turn that is timed.
        gc.collect()
        gc.freeze()
        self.addCleanup(gc.unfreeze)
        self.place = self.folder / "fake"
        self.place.mkdir()
        self.fake = self.place / "tmux"
        shutil.copy(Path(fake_tmux.__file__), self.fake)
        text = self.fake.read_text("utf-8")
        self.fake.write_text(f"#!{sys.executable}\n{text}", "utf-8")
        self.fake.chmod(0o755)
        self.says()
        self.sockets = SocketFolder(self.folder / "liars")
        (self.folder / "liars" / "mux").mkdir(mode=0o700, parents=True)
        read = ControlClient.outReceived

        def counted(client: ControlClient, data: bytes) -> None:
            self.received += len(data)
            read(client, data)

        self.received = 0
        self.patch(ControlClient, "outReceived", counted)
        self.liars = TmuxMultiplexer(
            self.clock,
            reactor,
            own_setups(LocalTransport(str(self.fake)), self.sockets),
            token=lambda: uuid.uuid4().hex,
            capacity=CAPACITY,
        )
        self.muxes.append(self.liars)

    def says(self, **fields: str) -> None:
        """What the liar tells of its pane."""
        known = {**HONEST, **fields}
        line = ",".join(known.get(name.lstrip("@"), "") for name in _FIELDS)
        (self.place / "state").write_text(line, "ascii")
        (self.place / "size").write_text(known.get("size", "80,24"), "ascii")

    async def liar(self) -> TmuxPane:
        """A session whose server is the fake one."""
        name = str(uuid.uuid4())
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.sockets.get_socket_path(name)))
        listener.listen(64)
        pane = await self.liars.adopt_pane(name, HERE)
        assert pane is not None
        return pane

    async def attacked(self, scenario: str) -> tuple[TmuxPane, float]:
        """Let the liar loose; the longest turn of the reactor in processor time."""
        (self.place / "scenario").write_text(scenario, "ascii")
        self.received = 0
        pane = await self.liar()
        honest = await self.mux.create_pane(self.spec())
        turns = [time.process_time()]
        ticking = LoopingCall(lambda: turns.append(time.process_time()))
        ticking.start(0)
        waiting = pane.link._current
        assert waiting is not None
        waiting.send_command(b"attack").addErrback(lambda why: why.trap(MuxError))
        await self.until(lambda: self.received > fake_tmux.PIECE // 2, scenario)
        end = time.monotonic() + ATTACK_SECONDS
        while time.monotonic() < end:
            await self.pause(0.01)
        ticking.stop()
        await honest.write_bytes(b"echo still here\n")
        await self.until(lambda: b"\r\nstill here" in logged_output(honest), "the honest pane")
        self.assertNotIn(b"owned", logged_output(honest))
        return pane, max(after - before for before, after in pairwise(turns))

    @pytest.mark.extended
    async def test_endless_streams_of_a_hostile_server_are_bounded(self) -> None:
        """C{bench/hostile.py} holds the longest turn to its limit."""
        for scenario in fake_tmux.STREAMS:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            pane, longest = await self.attacked(scenario)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
            self.longest[scenario] = longest
            report_figure(
                f"{scenario}: {longest * 1000:.0f} ms of processor time in the longest turn"
            )
            self.assertLess(grown, MEMORY, scenario)
            self.assertLessEqual(pane.log.end - pane.log.start, CAPACITY + 2**16, scenario)
            await pane.detach_service()

    async def test_absurd_numbers_are_errors(self) -> None:
        for fields in (
            {"pane_width": "9" * 5000},
            {"pane_width": "0"},
            {"pane_width": "10000", "pane_height": "10000"},
            {"pane_height": "99999"},
            {"pane_width": "-80"},
        ):
            self.says(**fields)
            with self.assertRaises(MuxError):
                await self.liar()

    async def test_values_that_are_not_numbers_are_tolerated(self) -> None:
        huge = "9" * 5000
        names = ("pane_pid", "tservice_pid", "history_size", "cursor_x", "cursor_y")
        self.says(**dict.fromkeys(names, huge), pane_title="t" * 500_000, scroll_region_lower=huge)
        pane = await self.liar()
        self.assertIn(pane.pid, (None, 0))
        self.assertEqual(TITLE_BYTES, len(pane.title))
        seen = await pane.capture_content(None)
        self.assertEqual(24, len(seen.lines))

    async def test_caret_outside_the_screen_is_tolerated(self) -> None:
        self.says(cursor_x="500", cursor_y="9999")
        seen = await (await self.liar()).capture_content(None)
        self.assertEqual(24, len(seen.lines))

    async def test_claimed_history_that_does_not_exist_is_bounded(self) -> None:
        """A million pages would be asked for."""
        self.says(history_size="2000000000")
        pane = await self.liar()
        seen = await pane.capture_content(50_000)
        self.assertLessEqual(len(seen.lines), 24 + 50_000)

    async def test_malformed_answers_are_errors(self) -> None:
        heard = RecordingPaneListener()
        pane = await self.liar()
        pane.add_listener(heard)
        for size in ("", ",", "80", "x,y", "9" * 5000 + ",1", "0,0", "80,24,1"):
            (self.place / "size").write_text(size, "ascii")
            with self.assertRaises(MuxError):
                await pane.resize(100, 30)
        self.assertEqual([], heard.sizes)

    async def test_refusal_of_a_megabyte_gives_a_bounded_error(self) -> None:
        pane = await self.liar()
        with self.assertRaises(MuxError) as caught:
            await pane.link.send_command(b"refuse")
        self.assertLessEqual(len(str(caught.exception)), MAX_ERROR_TEXT)
