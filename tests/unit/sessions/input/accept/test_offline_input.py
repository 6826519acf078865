"""Input for a session whose host is out of reach (protocol-wake)."""

from __future__ import annotations

from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.unit.sessions.input.accept.offline_harness import KEPT, OfflineHostCase
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.mux.interface import MuxTimeout
from tservice.sessions.input.accept.offline_buffer import BUFFER_BYTES
from tservice.sessions.interfaces import InputDelivery

DROPPED = InputDelivery(delivered=False, buffered=True, dropped=True)
AGAIN = InputDelivery(delivered=False, duplicate=True)
DONE = InputDelivery(delivered=True)


class AwayTests(OfflineHostCase):
    """What becomes of input meanwhile."""

    def test_input_is_kept_and_typed_once_in_order(self) -> None:
        self.assertEqual([KEPT] * 3, [self.send(text) for text in ("one ", "two ", "three")])
        self.assertEqual((b"", 3), (self.typed, self.far.wishes))
        self.back()
        self.assertEqual(b"one two three", self.typed)
        self.back()
        self.assertEqual(DONE, self.send("!"))
        self.assertEqual(b"one two three!", self.typed)

    def test_kept_input_takes_its_sequence_number(self) -> None:
        self.assertEqual([KEPT, AGAIN, KEPT], [self.send("x", seq) for seq in (5, 5, 6)])
        self.back()
        self.assertEqual([AGAIN, DONE], [self.send("x", seq) for seq in (6, 7)])
        self.assertEqual(b"xxx", self.typed)

    def test_duplicate_reports_the_last_sequence_number(self) -> None:
        """Kept or typed, whichever came later."""
        for seq in (5, 8):
            self.send("x", seq)
        self.assertEqual(8, self.send("x", 5).last)
        self.back()
        self.assertEqual(8, self.send("x", 5).last)
        self.send("x", 9)
        self.far.there = False
        self.assertEqual(9, self.send("x", 7).last)
        self.assertIsNone(self.send("x", 10).last)

    def test_sequence_number_from_before_the_outage_is_known(self) -> None:
        self.far.there = True
        self.assertEqual(DONE, self.send("x", 3))
        self.far.there = False
        self.assertEqual(AGAIN, self.send("x", 3))

    def test_chunk_that_does_not_fit_is_dropped_whole(self) -> None:
        """A smaller one after it may fit; its number is free."""
        self.assertEqual(KEPT, self.send("x" * (BUFFER_BYTES - 2), 1))
        self.assertEqual(DROPPED, self.send("abc", 2))
        self.assertEqual(KEPT, self.send("é", 2))
        self.assertEqual(DROPPED, self.send("", 3))
        self.back()
        self.assertEqual(b"x" * (BUFFER_BYTES - 2) + "é".encode(), self.typed)
        self.far.there = False
        self.assertEqual(KEPT, self.send("y" * BUFFER_BYTES, 3), "there is room again")

    def test_input_after_the_return_is_typed_after_kept_input(self) -> None:
        self.send("first ")
        self.pane(self.session).inject_fault("write", MuxTimeout("slow"), effect=False)
        self.pane(self.session).inject_fault("last_mark", MuxTimeout("slow"))
        self.back()
        later = self.type(self.session, "second")
        self.spend(2)
        self.assertEqual(DONE, self.successResultOf(later))
        self.assertEqual(b"first second", self.typed)

    def test_kept_input_survives_a_restart(self) -> None:
        """It is typed once the pane is taken up."""
        self.send("one ", 1)
        self.machine.restart()
        self.assertIsNone(self.sessions.get_pane(self.session.id))
        self.assertEqual([AGAIN, KEPT], [self.send("one ", 1), self.send("two", 2)])
        self.back()
        self.assertEqual(b"one two", self.typed)
        self.machine.restart()
        self.assertEqual(b"one two", self.typed)

    def test_kept_input_is_dropped_with_its_process(self) -> None:
        self.send("rm -rf x\r")
        self.machine.crash()
        self.host.lose_server(self.session.id)
        self.machine.restart()
        self.back()
        self.run_now(self.sessions.start(self.session.id, GRANTED))
        self.back()
        self.assertEqual(b"", self.typed)

    def test_input_that_answers_a_screen_is_never_kept(self) -> None:
        """Keys, and what the service itself types."""
        error = self.refusal(self.sessions.send_key(self.session.id, "Enter"))
        self.assertIn("Far is out of reach; nothing was pressed", error.message)
        error = self.refusal(self.sessions.send_prompt(self.session.id, "go on"))
        self.assertIn("nothing was typed", error.message)
        self.assertEqual(2, self.far.wishes)
        self.back()
        self.assertEqual(b"", self.typed)

    def waiting(self, seq: int) -> Deferred[InputDelivery]:
        """An input with a wait for its turn."""
        more = {"use_mux": False, "submitting": lambda: None}
        return self.type(self.session, "w", client_id="c", seq=seq, **more)

    def test_waiting_input_wakes_the_host_and_is_typed_after_kept_input(self) -> None:
        self.send("k", 1)
        answer = self.waiting(2)
        self.assertNoResult(answer)
        assert self.far.waking is not None
        self.back()
        self.far.waking.callback(None)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(b"kw", self.typed)

    def test_unsuccessful_waiting_input_is_never_typed_and_frees_its_number(self) -> None:
        answer = self.waiting(1)
        assert self.far.waking is not None
        self.far.waking.errback(make_failure_error("Far is out of reach"))
        error = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.back()
        self.assertEqual(b"", self.typed)
        self.assertEqual(DONE, self.send("w", 1))

    def test_waiting_input_cut_off_is_never_typed_later(self) -> None:
        self.far.there = True
        self.pane(self.session).inject_fault("write", MuxTimeout("cut"), effect=False)
        for _ in range(2):
            self.pane(self.session).inject_fault("last_mark", MuxTimeout("cut"))
        answer = self.waiting(1)
        self.spend(30)
        self.failureResultOf(answer, ServiceError)
        self.assertEqual(b"", self.typed)
        self.assertEqual(DONE, self.send("w", 1))

    def test_session_without_a_process_keeps_no_input(self) -> None:
        self.far.there = True
        self.run_now(self.sessions.stop(self.session.id, "done"))
        self.far.there = False
        answer = self.type(self.session, "x", may_wait=True)
        self.assertEqual(ErrorCode.CONFLICT, self.failureResultOf(answer, ServiceError).value.code)
