"""Spans and times of the day, from one clock or from two."""

from __future__ import annotations

import time
from typing import Any

from twisted.internet.base import ReactorBase
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel import clock as module
from tservice.core.kernel.clock import (
    get_unix_ms,
    get_unix_seconds,
    seconds_until,
    use_monotonic_time,
)


class IdleReactor(ReactorBase):
    """One that watches nothing, and is never run."""

    def installWaker(self) -> None:
        """Nobody wakes it."""

    def removeAll(self) -> list[Any]:
        return []


class SteadyTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.day, self.boot = 1_000_000.0, 500.0
        self.patch(time, "time", lambda: self.day)
        self.patch(module, "_get_boot_seconds", lambda: self.boot)
        self.reactor: Any = IdleReactor()
        self.addCleanup(self.reactor.disconnectAll)
        use_monotonic_time(self.reactor)

    def test_timer_keeps_its_duration_over_a_clock_change(self) -> None:
        """Whatever the day's time does meanwhile."""
        rung: list[float] = []
        self.reactor.callLater(10, lambda: rung.append(self.boot))
        for step in (-3600, 7200, 0):
            self.day += step
            self.boot += 3
            self.reactor.runUntilCurrent()
            self.assertEqual([], rung)
            self.assertEqual(510 - self.boot, self.reactor.timeout())
        self.boot += 1
        self.reactor.runUntilCurrent()
        self.assertEqual([510], rung)

    def test_wall_clock_time_follows_the_clock(self) -> None:
        self.day += 3600
        self.assertEqual(1_003_600_000, get_unix_ms(self.reactor))
        self.assertEqual(1_003_600, get_unix_seconds(self.reactor))
        self.assertEqual(5, seconds_until(self.reactor, 1_003_605_000, 60))

    def test_steady_clock_is_refused_after_the_first_timer(self) -> None:
        reactor: Any = IdleReactor()
        reactor.callLater(1, int)
        self.assertRaises(RuntimeError, use_monotonic_time, reactor)

    def test_one_clock_gives_seconds_and_milliseconds(self) -> None:
        clock = Clock()
        clock.advance(7)
        self.assertEqual((7000, 7), (get_unix_ms(clock), get_unix_seconds(clock)))
