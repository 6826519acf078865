"""Alarm for a time of the wall clock that stays correct when the clock is set.

A reactor compares its timers with the wall clock when it wakes, but it sleeps by a monotonic clock.
After the clock is set, its timers would therefore fire late.  This alarm uses a timerfd on
CLOCK_REALTIME, which fires at the given time of day.  With TFD_TIMER_CANCEL_ON_SET the timerfd also
fires when the clock is set (timerfd_create(2)), without wake-ups in between.
"""

from __future__ import annotations

import ctypes
import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from twisted.internet.interfaces import (
    IDelayedCall,
    IReactorFDSet,
    IReactorTime,
    IReadDescriptor,
)
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.kernel.clock import seconds_until
from tservice.core.kernel.timers import cancel_call

LONGEST = 3600.0
"""Longest sleep of L{TimerAlarm} in seconds."""

_ABSTIME, _CANCEL_ON_SET = 1, 2
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class ClockAlarm(Protocol):
    """Alarm that calls its owner when the wall clock has reached a time, or may have been set."""

    def set_time(self, at: int | None) -> None:
        """Set the time of the alarm, replacing the previous one.

        The alarm may also fire early, when the clock was set; set it again each time it has fired.

        @param at: Unix milliseconds; the alarm fires immediately if this is past.  C{None} disarms
            it.
        """

    def close(self) -> None:
        """Disarm the alarm; it cannot be set again."""


def make_alarm(reactor: Any, due: Callable[[], None]) -> ClockAlarm:
    """Return an alarm that calls C{due}, which must not raise.

    @raise OSError: the process or the system has no free file descriptors.
    """
    if IReactorFDSet.providedBy(reactor):
        return DescriptorAlarm(reactor, due)
    return TimerAlarm(reactor, due)


class TimerAlarm:
    """Alarm for reactors that cannot watch descriptors.

    This alarm uses a reactor timer and does not notice that the clock was set.
    """

    def __init__(self, clock: IReactorTime, due: Callable[[], None]) -> None:
        self._clock, self._due = clock, due
        self._call: IDelayedCall | None = None

    def set_time(self, at: int | None) -> None:
        """See L{ClockAlarm.set_time}."""
        self.close()
        if at is not None:
            left = seconds_until(self._clock, at, LONGEST)
            self._call = self._clock.callLater(left, self._fire_if_due)

    def close(self) -> None:
        """See L{ClockAlarm.close}."""
        cancel_call(self._call)
        self._call = None

    def _fire_if_due(self) -> None:
        self._call = None
        self._due()


@implementer(IReadDescriptor)
class DescriptorAlarm:
    """Alarm based on a timerfd that the reactor watches."""

    def __init__(self, reactor: IReactorFDSet, due: Callable[[], None]) -> None:
        self._reactor, self._due = reactor, due
        self._timer = _TimerDescriptor()
        reactor.addReader(self)

    def set_time(self, at: int | None) -> None:
        """See L{ClockAlarm.set_time}."""
        # Zero would disarm the timer; one millisecond is in the past as well.
        self._timer.arm_timer(0 if at is None else max(1, at))

    def close(self) -> None:
        """See L{ClockAlarm.close}."""
        if self._timer.descriptor >= 0:
            self._reactor.removeReader(self)
            self._timer.close()

    def fileno(self) -> int:
        """Return the descriptor for the reactor."""
        return self._timer.descriptor

    def logPrefix(self) -> str:
        """Return the name for the reactor's log."""
        return "alarm"

    def doRead(self) -> None:
        """Handle an expired timer or a change of the clock."""
        if self._timer.take_expiration():
            self._due()

    def connectionLost(self, reason: Failure) -> None:
        """Do nothing when the stopping reactor removes the descriptor."""
        self._timer.close()


class _TimeSpec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


class _IntervalTimerSpec(ctypes.Structure):
    """C{struct itimerspec}."""

    _fields_ = [("interval", _TimeSpec), ("value", _TimeSpec)]


class _TimerDescriptor:
    """Wrapper of timerfd_create(2), which Python provides only from 3.13 on."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        made = self._libc.timerfd_create(time.CLOCK_REALTIME, _FLAGS)
        self.descriptor: int = self._check_result(made)

    def arm_timer(self, at: int) -> None:
        """Make the timer fire when the clock is set, or reaches C{at} in Unix milliseconds; 0
        disarms.
        """
        setting = _IntervalTimerSpec()
        setting.value = _TimeSpec(at // 1000, at % 1000 * 1_000_000)
        flags = _ABSTIME | _CANCEL_ON_SET
        done = self._libc.timerfd_settime(self.descriptor, flags, ctypes.byref(setting), None)
        # ECANCELED only says that the clock was set since the last call; the timer is armed.
        if done != 0 and ctypes.get_errno() != errno.ECANCELED:
            self._check_result(done)

    def take_expiration(self) -> bool:
        """Return whether the timer has fired since the last call."""
        try:
            os.read(self.descriptor, 8)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.ECANCELED:
                raise
        return True

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def _check_result(self, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result
