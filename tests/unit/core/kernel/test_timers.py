"""Calls that are due later."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.timers import NamedTimers, cancel_call


class CancelTests(SynchronousTestCase):
    def test_pending_call_is_cancelled(self) -> None:
        clock, made = Clock(), list[str]()
        call = clock.callLater(1, made.append, "late")
        cancel_call(call)
        clock.advance(2)
        self.assertEqual(([], []), (made, clock.getDelayedCalls()))

    def test_finished_or_missing_call_is_ignored(self) -> None:
        clock = Clock()
        call = clock.callLater(1, list[str]().append, "made")
        clock.advance(1)
        cancel_call(call)
        cancel_call(None)


class TimersTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.timers = NamedTimers(self.clock)
        self.made: list[str] = []

    def set(self, name: str, seconds: float, what: str) -> None:
        self.timers.schedule_call(name, seconds, self.made.append, what)

    def test_named_call_is_made_once(self) -> None:
        self.set("look", 1, "looked")
        self.clock.pump([0.5, 0.5, 5])
        self.assertEqual(["looked"], self.made)
        self.assertNotIn("look", self.timers)

    def test_name_has_one_pending_call(self) -> None:
        self.set("look", 1, "first")
        self.set("look", 2, "second")
        self.set("blink", 1, "other")
        self.clock.pump([1, 1])
        self.assertEqual(["other", "second"], self.made)

    def test_call_may_schedule_its_own_name_again(self) -> None:
        self.timers.schedule_call("beat", 1, self.set, "beat", 1, "again")
        self.clock.advance(1)
        self.assertIn("beat", self.timers)
        self.clock.advance(1)
        self.assertEqual(["again"], self.made)

    def test_one_or_all_calls_are_stopped(self) -> None:
        for name in ("one", "two", "three"):
            self.set(name, 1, name)
        self.timers.cancel_timer("one")
        self.timers.cancel_timer("unknown")
        self.clock.advance(0.5)
        self.timers.cancel_all()
        self.clock.advance(1)
        self.assertEqual(([], []), (self.made, self.clock.getDelayedCalls()))
