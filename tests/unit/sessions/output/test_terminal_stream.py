"""The stream on a fake pane: every byte once, snapshots where a client must skip, flood mode."""

from __future__ import annotations

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.multiplexer.multiplexer import FakeMultiplexer, FakePane, HostedPane
from tests.non_empty import require_items
from tests.unit.sessions.output.terminal_wire import PROMPT, SPEC, FakeTerminalWire
from tservice.mux.interface import MuxTimeout
from tservice.sessions.output.capture_links import restore_capture_links
from tservice.sessions.output.flood_mode import SAMPLE, STILL
from tservice.sessions.output.terminal_stream import QUIET, RETRY, TerminalStream
from tservice.sessions.output.viewer import DRAWING, FRAME, WINDOW, TerminalViewer


class TerminalStreamTests(SynchronousTestCase):
    """L{TerminalStream}."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1000)
        mux = FakeMultiplexer(self.clock, capacity=2 * WINDOW)
        self.pane: FakePane = self.successResultOf(Deferred.fromCoroutine(mux.create_pane(SPEC)))
        self.hosted: HostedPane = mux.host["s"]
        self.needed = False
        self.stream = TerminalStream(self.pane, self.clock, lambda: self.needed)
        self.addCleanup(self.check_closed)

    def check_closed(self) -> None:
        self.stream.close()
        self.assertEqual([], self.clock.getDelayedCalls())

    def attach(
        self, since: int | None = None, epoch: str | None = None
    ) -> tuple[TerminalViewer, FakeTerminalWire]:
        wire = FakeTerminalWire()
        return self.stream.attach(wire, epoch or self.pane.log.epoch, since), wire

    def test_new_client_gets_hello_then_screen_then_bytes(self) -> None:
        _, wire = self.attach()
        self.assertEqual(["hello", "snapshot"], wire.kinds())
        hello, snapshot = wire.frames
        self.assertEqual(
            {"t": "hello", "v": 1, "epoch": self.pane.log.epoch, "offset": len(PROMPT)}
            | {"cols": 40, "rows": 10, "resumed": False},
            {name: value for name, value in hello.items() if name != "widths"},
        )
        self.assertIn([0x1F7E0, 0x1F7EB, 2], hello["widths"])
        self.assertEqual(hello["offset"], snapshot["offset"])
        self.assertIn("$\r\n", snapshot["data"])
        self.hosted.emit_output(b"hi")
        self.assertEqual(b"hi", wire.data)

    def test_output_between_request_and_capture_is_not_lost(self) -> None:
        self.hosted.stop_answering()
        _, wire = self.attach()
        self.hosted.emit_output(b"meanwhile")
        self.assertEqual([], wire.frames)
        self.hosted.resume_answering()
        self.assertIn("meanwhile", wire.frames[-1]["data"])
        self.hosted.emit_output(b"!")
        self.clock.advance(QUIET)
        self.assertEqual(b"!", wire.data)

    def test_snapshot_keeps_printed_links(self) -> None:
        """The multiplexer knows none: the log still holds them, until there is a gap."""
        marked = "\x1b]8;;https://a.example/\x1b\\here\x1b]8;;\x1b\\"
        self.hosted.emit_output(f"\r\n{marked}\r\n".encode())
        self.assertIn(marked, self.attach()[1].frames[-1]["data"])
        self.pane.log.add_gap()
        self.assertIn("\r\nhere\r\n", self.attach()[1].frames[-1]["data"])

    def test_links_kept_by_the_multiplexer_are_left_alone(self) -> None:
        self.hosted.emit_output(b"\r\n\x1b]8;;https://a.example/\x07here\x1b]8;;\x07\r\n")
        capture = self.successResultOf(Deferred.fromCoroutine(self.pane.capture_content()))
        kept = (b"\x1b]8;id=1;https://a.example/\x1b\\x\x1b]8;;\x1b\\", *capture.lines[1:])
        self.assertNotEqual(capture, restore_capture_links(capture, self.pane.log))
        capture = evolve(capture, lines=kept)
        self.assertIs(capture, restore_capture_links(capture, self.pane.log))

    def test_client_resumes_at_its_offset(self) -> None:
        self.hosted.emit_output(b"abc")
        _, wire = self.attach(since=len(PROMPT) + 1)
        self.assertEqual(["hello"], wire.kinds())
        self.assertTrue(wire.frames[0]["resumed"])
        self.assertEqual(len(PROMPT) + 1, wire.frames[0]["offset"])
        self.assertEqual(b"bc", wire.data)

    def test_offset_of_another_epoch_is_not_resumed(self) -> None:
        for since, epoch in [(2, "other"), (10_000, None)]:
            _, wire = self.attach(since, epoch)
            self.assertEqual(["hello", "snapshot"], wire.kinds())
            self.assertFalse(wire.frames[0]["resumed"])

    def test_echo_is_sent_immediately_and_the_next_byte_waits(self) -> None:
        _, wire = self.attach()
        self.clock.advance(1)
        self.hosted.emit_output(b"a")
        self.assertEqual(b"a", wire.data)
        self.hosted.emit_output(b"b")
        self.hosted.emit_output(b"c")
        self.assertEqual(b"a", wire.data)
        self.clock.advance(QUIET)
        self.assertEqual(b"abc", wire.data)
        self.assertEqual([1, 2], wire.sizes)

    def test_echo_is_not_delayed_by_preceding_output(self) -> None:
        _, wire = self.attach()
        self.clock.advance(1)
        self.hosted.emit_output(b"a")
        self.clock.advance(QUIET / 4)
        self.successResultOf(Deferred.fromCoroutine(self.pane.write_bytes(b"k")))
        self.assertEqual(b"ak", wire.data)
        self.clock.advance(QUIET / 4)
        self.hosted.emit_output(b"b")
        self.assertEqual(b"ak", wire.data)
        self.clock.advance(QUIET)
        self.assertEqual([1, 1, 1], wire.sizes)

    def test_flood_is_sent_in_frames(self) -> None:
        _, wire = self.attach()
        self.clock.advance(1)
        self.hosted.emit_output(b"-")
        for _ in range(3 * FRAME // 1024):
            self.pane.log.append(b"x" * 1024)
        self.assertEqual([1, FRAME, FRAME, FRAME], wire.sizes)

    def test_full_socket_buffers_nothing_and_resumes(self) -> None:
        viewer, wire = self.attach()
        wire.full = True
        self.pane.log.append(b"y" * FRAME * 4)
        self.assertEqual(b"", wire.data)
        wire.full = False
        viewer.send_available()
        self.assertEqual(FRAME * 4, len(wire.data))

    def test_acknowledged_offset_sets_the_window(self) -> None:
        viewer, wire = self.attach()
        viewer.acknowledge_drawn(viewer.offset)
        start = viewer.offset
        self.pane.log.append(b"z" * 2 * DRAWING)
        self.assertEqual(DRAWING, len(wire.data))
        viewer.acknowledge_drawn(start + DRAWING)
        self.assertEqual(2 * DRAWING, len(wire.data))
        viewer.acknowledge_drawn(start + 10**9)
        self.assertEqual(2 * DRAWING, len(wire.data))

    def test_client_too_far_behind_skips_ahead(self) -> None:
        _, keeping = self.attach()
        viewer, stalled = self.attach()
        stalled.full = True
        for _ in range(WINDOW // FRAME + 1):
            self.pane.log.append(b"q" * FRAME)
        self.assertTrue(viewer.is_behind)
        self.assertEqual(["hello", "snapshot"], stalled.kinds())
        stalled.full = False
        viewer.send_available()
        self.assertEqual(["hello", "snapshot", "snapshot"], stalled.kinds())
        self.hosted.emit_output(b"end")
        self.clock.advance(QUIET)
        self.assertEqual(b"end", stalled.data)
        self.assertEqual(WINDOW + FRAME + 3, len(keeping.data))
        self.assertFalse(self.pane.paused)

    def flood(self, *wires: FakeTerminalWire) -> None:
        for wire in wires:
            wire.full = True
        for _ in range(WINDOW // FRAME + 1):
            self.pane.log.append(b"f" * FRAME)
        self.clock.advance(QUIET)

    def test_flood_mode_samples_the_screen_until_it_is_quiet(self) -> None:
        viewer, wire = self.attach()
        self.flood(wire)
        self.assertTrue(self.pane.paused)
        wire.full = False
        self.hosted.emit_output(b"\r\nsample me")
        self.clock.advance(SAMPLE)
        self.assertIn("sample me", wire.frames[-1]["data"])
        shown = len(wire.frames)
        self.clock.pump([SAMPLE] * (STILL + 1))
        self.assertFalse(self.pane.paused)
        self.assertFalse(viewer.is_behind)
        self.assertEqual(shown + 1, len(wire.frames))
        self.hosted.emit_output(b"after")
        self.clock.advance(QUIET)
        self.assertEqual(b"after", wire.data)

    def test_gap_alone_is_no_flood(self) -> None:
        _, wire = self.attach()
        self.hosted.stop_answering()
        self.pane.log.add_gap()
        self.clock.advance(QUIET)
        self.assertFalse(self.stream._flood.is_active)
        self.hosted.resume_answering()
        self.assertFalse(self.pane.paused)
        self.assertEqual(["hello", "snapshot", "snapshot"], wire.kinds())

    def test_reader_of_every_byte_keeps_the_pane_unpaused(self) -> None:
        _, wire = self.attach()
        self.needed = True
        self.flood(wire)
        self.assertFalse(self.pane.paused)
        self.needed = False
        self.hosted.emit_output(b"f")
        self.clock.advance(QUIET)
        self.assertTrue(self.pane.paused)

    def test_pane_resumes_when_the_last_viewer_leaves_a_flood(self) -> None:
        viewer, wire = self.attach()
        self.flood(wire)
        self.stream.detach(viewer)
        self.clock.advance(SAMPLE)
        self.assertFalse(self.pane.paused)

    def test_failed_snapshot_is_requested_again(self) -> None:
        self.hosted.inject_fault("capture", MuxTimeout("no answer"))
        _, wire = self.attach()
        self.assertEqual([], wire.frames)
        self.clock.advance(RETRY)
        self.assertEqual(["hello", "snapshot"], wire.kinds())

    def test_waiting_clients_share_one_capture(self) -> None:
        self.hosted.stop_answering()
        wires = [self.attach()[1] for _ in range(3)]
        self.hosted.resume_answering()
        for wire in require_items(wires):
            self.assertEqual(["hello", "snapshot"], wire.kinds())

    def test_client_gone_before_its_snapshot_receives_nothing(self) -> None:
        self.hosted.stop_answering()
        viewer, wire = self.attach()
        self.stream.detach(viewer)
        self.hosted.resume_answering()
        self.assertEqual([], wire.frames)
