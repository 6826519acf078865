"""Parked waits on a Clock: signals, order, caps, time-outs, hang-ups."""

from __future__ import annotations

from twisted.internet.defer import CancelledError
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.waits.signal_waits import (
    DEFAULT_UNTIL,
    ParkedSignalWaits,
    ParkedWait,
    SessionSignal,
    WaitCaps,
    WaitSlots,
    clamp_timeout,
    find_first_signal,
)


class WaitsTests(SynchronousTestCase):
    """L{ParkedSignalWaits}."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.slots = WaitSlots(WaitCaps(per_session=2, total=4, per_owner=3))
        self.waits = ParkedSignalWaits(self.clock, self.slots)

    def park(self, *ids: str, owner: str = "ann", need_all: bool = False) -> ParkedWait:
        return self.waits.hold_call_until_signal(
            dict.fromkeys(ids or ("s",)), frozenset(DEFAULT_UNTIL), 5000, owner, need_all=need_all
        )

    def test_signal_is_answered_with_its_time(self) -> None:
        wait = self.park()
        self.clock.advance(1.5)
        self.waits.deliver_signal("other", SessionSignal.STOP)
        self.waits.deliver_signal("s", SessionSignal.WORKING)
        self.assertNoResult(wait.done)
        self.waits.deliver_signal("s", SessionSignal.STOP)
        outcome = self.successResultOf(wait.done)
        self.assertEqual(
            (SessionSignal.STOP, False, 1500), (outcome.signal, outcome.timed_out, 1500)
        )
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual(0, self.waits.count_parked())

    def test_signal_wait_times_out(self) -> None:
        wait = self.park()
        self.clock.advance(5)
        outcome = self.successResultOf(wait.done)
        self.assertEqual((None, True, 5000), (outcome.signal, outcome.timed_out, outcome.waited_ms))
        self.assertEqual(0, self.waits.count_parked())

    def test_disconnected_client_frees_the_slot(self) -> None:
        wait = self.park()
        wait.done.cancel()
        self.failureResultOf(wait.done, CancelledError)
        self.assertEqual(0, self.waits.count_parked())
        self.assertEqual([], self.clock.getDelayedCalls())
        self.waits.deliver_signal("s", SessionSignal.STOP)

    def test_waits_are_capped_per_session_and_owner(self) -> None:
        self.park("a")
        self.park("a")
        busy = self.assertRaises(ServiceError, self.park, "a")
        self.assertEqual(ErrorCode.SESSION_BUSY, busy.code)
        self.park("b")
        mine = self.assertRaises(ServiceError, self.park, "c")
        self.assertEqual(ErrorCode.RATE_LIMITED, mine.code)
        self.park("c", owner="bob")
        full = self.assertRaises(ServiceError, self.park, "d", owner="cat")
        self.assertEqual(ErrorCode.RATE_LIMITED, full.code)
        self.waits.deliver_signal("a", SessionSignal.EXIT)
        self.park("a")

    def test_unarmed_wait_receives_only_the_exit(self) -> None:
        wait = self.waits.hold_call_until_signal(
            {"s": None}, frozenset(DEFAULT_UNTIL), 5000, "ann", armed=False
        )
        self.waits.deliver_signal("s", SessionSignal.STOP)
        self.assertNoResult(wait.done)
        wait.start_counting_signals()
        self.waits.deliver_signal("s", SessionSignal.IDLE)
        self.assertEqual(SessionSignal.IDLE, self.successResultOf(wait.done).signal)
        dying = self.waits.hold_call_until_signal(
            {"s": None}, frozenset(DEFAULT_UNTIL), 5000, "ann", armed=False
        )
        self.waits.deliver_signal("s", SessionSignal.EXIT)
        self.assertEqual(SessionSignal.EXIT, self.successResultOf(dying.done).signal)

    def test_wait_for_several_sessions_ends_with_any_or_all(self) -> None:
        anyone, everyone = self.park("a", "b"), self.park("a", "b", need_all=True)
        self.waits.deliver_signal("b", SessionSignal.IDLE)
        self.assertEqual(
            {"a": None, "b": SessionSignal.IDLE}, dict(self.successResultOf(anyone.done).signals)
        )
        self.assertNoResult(everyone.done)
        self.waits.deliver_signal("b", SessionSignal.STOP)
        self.waits.deliver_signal("a", SessionSignal.EXIT)
        self.assertEqual(
            {"a": SessionSignal.EXIT, "b": SessionSignal.IDLE},
            dict(self.successResultOf(everyone.done).signals),
        )
        self.assertEqual(0, self.waits.count_parked())

    def test_deleted_session_ends_its_waits(self) -> None:
        wait = self.park()
        stubborn = self.waits.hold_call_until_signal(
            {"s": None}, frozenset({SessionSignal.STOP}), 5000, "ann"
        )
        self.waits.end_session_waits("s")
        outcome = self.successResultOf(wait.done)
        self.assertEqual((SessionSignal.EXIT, True), (outcome.signal, outcome.ended))
        outcome = self.successResultOf(stubborn.done)
        self.assertEqual(
            (SessionSignal.EXIT, True, False), (outcome.signal, outcome.ended, outcome.timed_out)
        )

    def test_finished_waits_leave_nothing(self) -> None:
        for number in range(100):
            wait = self.park(f"s{number}", owner=f"o{number}")
            wait.done.cancel()
            self.failureResultOf(wait.done, CancelledError)
        self.assertEqual({}, self.waits._parked)
        self.assertEqual((0, 0), (len(self.slots._owners), len(self.slots._sessions)))


class SignalRuleTests(SynchronousTestCase):
    """The pure rules."""

    def test_timeout_is_clamped(self) -> None:
        self.assertEqual(
            [1000, 1000, 60000, 600000], [*map(clamp_timeout, (1, 1000, 60000, 10**9))]
        )

    def test_signals_are_ordered_by_priority(self) -> None:
        held = [SessionSignal.IDLE, SessionSignal.BLOCKED]
        self.assertEqual(SessionSignal.BLOCKED, find_first_signal(held, frozenset(SessionSignal)))
        self.assertEqual(SessionSignal.IDLE, find_first_signal(held, frozenset(DEFAULT_UNTIL)))
        self.assertIsNone(find_first_signal([SessionSignal.WORKING], frozenset(DEFAULT_UNTIL)))
