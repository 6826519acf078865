"""Waits for output on the fake pane: the stream, the grid, the end."""

from __future__ import annotations

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.multiplexer.multiplexer import FakeMultiplexer
from tests.unit.sessions.output.terminal_wire import SPEC
from tservice.core.kernel.errors import ServiceError
from tservice.mux.interface import MuxTimeout
from tservice.sessions.waits.output_waits import (
    SETTLED,
    ParkedOutputWait,
    ParkedOutputWaits,
    search_recent_output,
)
from tservice.sessions.waits.signal_waits import WaitCaps, WaitSlots
from tservice.terminal.stream_matcher import SearchNeedle


class OutputWaitTests(SynchronousTestCase):
    """L{ParkedOutputWaits}."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.mux = FakeMultiplexer(self.clock)
        self.pane = self.successResultOf(Deferred.fromCoroutine(self.mux.create_pane(SPEC)))
        self.hosted = self.mux.host["s"]
        self.slots = WaitSlots(WaitCaps(per_session=3))
        self.waits = ParkedOutputWaits(self.clock, self.slots)
        self.addCleanup(self.check_released)

    def check_released(self) -> None:
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual(0, self.slots.taken)
        self.assertEqual(0, len(self.pane.log._listeners))
        self.assertFalse(self.waits.has_wait("s"))

    def park(self, text: str = "READY", timeout: int = 5000) -> ParkedOutputWait:
        return self.waits.hold_call_until_output(self.pane, SearchNeedle(text), timeout, "ann")

    def test_match_across_chunks_and_escapes_is_found(self) -> None:
        wait = self.park()
        self.assertTrue(self.waits.has_wait("s"))
        self.clock.advance(0.1)
        self.hosted.emit_output(b"it is RE\x1b[1mA")
        self.assertNoResult(wait.done)
        self.hosted.emit_output(b"\x1b[0mDY!")
        outcome = self.successResultOf(wait.done)
        assert outcome.match is not None
        self.assertEqual("it is READY!", outcome.match.snippet)
        self.assertEqual((100, False), (outcome.waited_ms, outcome.ended))

    def test_output_wait_times_out(self) -> None:
        wait = self.park()
        self.hosted.emit_output(b"nothing of the kind")
        self.clock.pump([SETTLED, 5])
        outcome = self.successResultOf(wait.done)
        self.assertEqual((None, False), (outcome.match, outcome.ended))

    def test_blanks_drawn_by_cursor_moves_match_on_the_screen(self) -> None:
        wait = self.park("all done now")
        self.hosted.emit_output(b"\r\nall\x1b[Cdone\x1b[Cnow")
        self.assertNoResult(wait.done)
        self.clock.advance(SETTLED)
        outcome = self.successResultOf(wait.done)
        assert outcome.match is not None
        self.assertEqual("all done now", outcome.match.text)

    def test_earlier_screen_content_is_no_match(self) -> None:
        self.hosted.emit_output(b"old READY\r\n")
        wait = self.park()
        self.hosted.emit_output(b"something else\r\n")
        self.clock.advance(SETTLED)
        self.assertNoResult(wait.done)
        self.hosted.emit_output(b"old RE\x1b[31mADY\r\n")
        self.assertIsNotNone(self.successResultOf(wait.done).match)

    def test_row_repeated_on_the_screen_is_a_match(self) -> None:
        self.hosted.emit_output(b"a b\r\n")
        wait = self.park("a b")
        self.hosted.emit_output(b"a\x1b[Cb\r\n")
        self.clock.advance(SETTLED)
        self.assertIsNotNone(self.successResultOf(wait.done).match)

    def test_ended_process_ends_the_wait(self) -> None:
        wait = self.park()
        self.hosted.exit_program(0)
        outcome = self.successResultOf(wait.done)
        self.assertEqual((None, True), (outcome.match, outcome.ended))

    def test_last_output_before_the_end_counts(self) -> None:
        wait = self.park("last words")
        self.hosted.emit_output(b"\r\nlast\x1b[Cwords")
        self.hosted.exit_program(1)
        self.assertIsNotNone(self.successResultOf(wait.done).match)

    def test_lost_server_and_deleted_session_end_the_wait(self) -> None:
        lost = self.park()
        self.hosted.lose_server()
        self.assertTrue(self.successResultOf(lost.done).ended)
        deleted = self.park()
        self.waits.end_session_waits("s")
        self.assertTrue(self.successResultOf(deleted.done).ended)

    def test_disconnected_client_releases_everything(self) -> None:
        wait = self.park()
        self.hosted.emit_output(b"x")
        wait.done.cancel()
        self.failureResultOf(wait.done, CancelledError)

    def test_unreadable_screen_changes_nothing(self) -> None:
        self.hosted.inject_fault("capture", MuxTimeout("no answer"))
        wait = self.park()
        self.hosted.emit_output(b"x")
        self.clock.advance(SETTLED)
        self.assertNoResult(wait.done)
        self.hosted.emit_output(b"READY")
        self.assertIsNotNone(self.successResultOf(wait.done).match)

    def test_gap_loses_only_its_own_output(self) -> None:
        wait = self.park()
        self.hosted.emit_output(b"REA")
        self.pane.log.add_gap()
        self.hosted.emit_output(b"DY")
        self.assertNoResult(wait.done)
        self.hosted.emit_output(b"READY")
        self.assertIsNotNone(self.successResultOf(wait.done).match)

    def test_wait_slots_are_shared_and_capped(self) -> None:
        parked = [self.park() for _ in range(3)]
        self.assertRaises(ServiceError, self.park)
        for wait in parked:
            wait.done.cancel()
            self.failureResultOf(wait.done, CancelledError)

    def search(self, needle: SearchNeedle) -> str | None:
        found = self.successResultOf(
            Deferred.fromCoroutine(search_recent_output(self.pane, needle))
        )
        return None if found is None else found.text

    def test_buffer_is_searched(self) -> None:
        self.hosted.emit_output(b"once READY there")
        self.assertEqual("READY", self.search(SearchNeedle("ready", nocase=True)))
        self.assertIsNone(self.search(SearchNeedle("never")))

    def test_output_between_search_and_wait_is_found(self) -> None:
        self.assertIsNone(self.search(SearchNeedle("all done")))
        self.hosted.emit_output(b"\r\nall\x1b[Cdone")
        wait = self.waits.hold_call_until_output(
            self.pane, SearchNeedle("all done"), 5000, "ann", searched=True
        )
        self.assertIsNotNone(self.successResultOf(wait.done).match)

    def test_text_only_on_the_screen_is_found(self) -> None:
        self.hosted.emit_output(b"\r\nlost\x1b[Cbytes")
        self.pane.log.add_gap()
        self.assertEqual("lost bytes", self.search(SearchNeedle("lost bytes")))
        self.hosted.inject_fault("capture", MuxTimeout("no answer"))
        self.assertIsNone(self.search(SearchNeedle("lost bytes")))
