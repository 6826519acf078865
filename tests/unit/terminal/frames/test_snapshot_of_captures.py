"""A snapshot brings a fresh terminal to the same screen, on the fake's own grid."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.fakes.multiplexer.grid import FakeGrid
from tests.fakes.multiplexer.multiplexer import FakeHost, FakeMultiplexer
from tests.runtime_harness import HERE
from tservice.mux.interface import PaneCapture, PaneSpec
from tservice.terminal.frames.snapshot import build_snapshot

PIECES = st.sampled_from(
    [
        b"text ",
        b"\r\n",
        b"\x1b[31mred\x1b[m",
        b"\x1b[44m  \x1b[m",
        b"\x1b[2;3H",
        b"\x1b[K",
        b"\x1b[?25l",
        b"\x1b[?2004h",
        b"\x1b[?1049h",
        "é€".encode(),
        b"\x1b[44m" + b"y" * 45 + b"\x1b[m",
        b"x" * 25,
    ]
)


def capture(data: bytes) -> PaneCapture:
    """What a fake pane of 20x5 shows after C{data}."""
    clock = Clock()
    host = FakeHost(clock)
    spec = PaneSpec(session_id="a", argv=("sh",), env={}, cwd="/", cols=20, rows=5, place=HERE)
    mux = FakeMultiplexer(clock, host)
    found: list[PaneCapture] = []

    async def show() -> None:
        pane = await mux.create_pane(spec)
        host["a"].grid = FakeGrid(20, 5, 1000)
        host["a"].emit_output(data)
        found.append(await pane.capture_content(None))

    Deferred.fromCoroutine(show())
    return found[0]


class SnapshotOfCaptureTests(SynchronousTestCase):
    @settings(max_examples=example_count(150), deadline=None)
    @given(st.lists(PIECES, max_size=25))
    def test_snapshot_of_a_capture_draws_the_same_screen(self, pieces: list[bytes]) -> None:
        want = capture(b"".join(pieces))
        got = capture(build_snapshot(want))
        self.assertEqual(want.lines, got.lines)
        self.assertEqual((want.wrapped, want.main_wrapped), (got.wrapped, got.main_wrapped))
        self.assertEqual((want.cursor_x, want.cursor_y), (got.cursor_x, got.cursor_y))
        self.assertEqual((want.history, want.modes, want.main), (got.history, got.modes, got.main))
