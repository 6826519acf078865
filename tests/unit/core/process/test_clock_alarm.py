"""The alarm: the same promises kept by the kernel's and by a reactor's timer."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from unittest.mock import patch

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tservice.core.process.clock_alarm import LONGEST, DescriptorAlarm, TimerAlarm, make_alarm


def now() -> int:
    return int(time.time() * 1000)


class KernelTests(TestCase):
    """A timerfd on the real reactor; its clock is the machine's, which no test may set."""

    def setUp(self) -> None:
        self.rings: list[int] = []
        self.rung: Deferred[None] = Deferred()
        alarm = make_alarm(reactor, self.ring)
        assert isinstance(alarm, DescriptorAlarm)
        self.alarm = alarm
        self.addCleanup(alarm.close)

    def ring(self) -> None:
        self.rings.append(now())
        rung, self.rung = self.rung, Deferred()
        rung.callback(None)

    async def test_alarm_rings_at_its_time(self) -> None:
        at = now() + 60
        self.alarm.set_time(at)
        await self.rung
        self.assertGreaterEqual(self.rings[0], at)

    async def test_past_time_rings_immediately(self) -> None:
        for at in (-5, 0, 1, now() - 1000):
            self.alarm.set_time(at)
            await self.rung
        self.assertEqual(4, len(self.rings))

    async def test_alarm_time_is_replaced(self) -> None:
        self.alarm.set_time(now() + 30)
        self.alarm.set_time(now() + 3_600_000)
        self.alarm.set_time(now() + 20)
        self.alarm.set_time(None)
        await deferLater(reactor, 0.08)
        self.assertEqual([], self.rings)

    async def test_clock_change_rings_the_alarm(self) -> None:
        """The kernel then fails the read with ECANCELED (timerfd_create(2))."""
        self.alarm.set_time(now() - 1)
        real: Callable[[int, int], bytes] = os.read

        def read(descriptor: int, size: int) -> bytes:
            content = real(descriptor, size)
            if descriptor == self.alarm.fileno():
                raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
            return content

        with patch("tservice.core.process.clock_alarm.os.read", read):
            await self.rung
        self.assertEqual(1, len(self.rings))

    def test_empty_read_does_not_ring(self) -> None:
        self.alarm.doRead()
        self.assertEqual([], self.rings)

    def test_alarm_may_be_closed_twice_and_frees_its_descriptor(self) -> None:
        descriptor = self.alarm.fileno()
        self.alarm.close()
        self.alarm.close()
        self.assertRaises(OSError, os.fstat, descriptor)

    def test_alarm_is_cancelled_by_clock_changes(self) -> None:
        """What the kernel was asked for: an absolute wall-clock time, and word of settings."""
        self.alarm.set_time(now() + 3_600_000)
        with open(f"/proc/self/fdinfo/{self.alarm.fileno()}") as stream:
            told = dict(line.split(":", 1) for line in stream.read().splitlines())
        self.assertEqual("0", told["clockid"].strip())
        self.assertEqual(0o3, int(told["settime flags"], 8))


class TimerTests(SynchronousTestCase):
    """A reactor that watches no descriptors."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1000)
        self.rings: list[float] = []
        self.alarm = make_alarm(self.clock, lambda: self.rings.append(self.clock.seconds()))
        assert isinstance(self.alarm, TimerAlarm)

    def test_timer_rings_once_at_its_time(self) -> None:
        self.alarm.set_time(1_005_000)
        self.clock.advance(4.9)
        self.assertEqual([], self.rings)
        self.clock.pump([0.1, 10])
        self.assertEqual([1005], self.rings)

    def test_timer_handles_past_replaced_and_cleared_times(self) -> None:
        self.alarm.set_time(5)
        self.clock.advance(0)
        self.alarm.set_time(1_001_000)
        self.alarm.set_time(1_002_000)
        self.clock.advance(1.5)
        self.assertEqual(1, len(self.rings))
        self.alarm.set_time(None)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.alarm.close()

    def test_long_timer_is_split(self) -> None:
        self.alarm.set_time(10**12)
        self.clock.advance(LONGEST)
        self.assertEqual(1, len(self.rings))
