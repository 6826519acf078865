"""One alarm for a moment of the wall clock, whatever is done to that clock meanwhile.

A reactor's timers are compared with the wall clock when the reactor wakes, but it sleeps by a clock
that nobody sets: after a jump ahead they come late by what was left to sleep, after one back by the
jump.  So the kernel is asked: a timerfd on CLOCK_REALTIME goes off at the moment itself, and with
TFD_TIMER_CANCEL_ON_SET also when the clock is set (timerfd_create(2)), which costs no wake-up in
between.
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

from tservice.core.clock import seconds_until
from tservice.core.timers import cancel

LONGEST = 3600.0
"""Seconds that L{TimerAlarm} sleeps at most."""

_ABSTIME, _CANCEL_ON_SET = 1, 2
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class Alarm(Protocol):
    """Tells when it is time to look at the clock."""

    def set(self, at: int | None) -> None:
        """Go off at C{at} (Unix milliseconds), at once if that is past; C{None}: not at all.

        It takes the place of what was set before.  It may also go off early, when the clock was
        set; after going off it is to be set again.
        """

    def close(self) -> None:
        """Never go off again."""


def make_alarm(reactor: Any, due: Callable[[], None]) -> Alarm:
    """An alarm that calls C{due}; it must not raise.

    @raise OSError: the kernel has no more descriptors.
    """
    if IReactorFDSet.providedBy(reactor):
        return DescriptorAlarm(reactor, due)
    return TimerAlarm(reactor, due)


class TimerAlarm:
    """For reactors that watch no descriptors: by a timer of theirs, so without word of jumps."""

    def __init__(self, clock: IReactorTime, due: Callable[[], None]) -> None:
        self._clock, self._due = clock, due
        self._call: IDelayedCall | None = None

    def set(self, at: int | None) -> None:
        """See L{Alarm}."""
        self.close()
        if at is not None:
            left = seconds_until(self._clock, at, LONGEST)
            self._call = self._clock.callLater(left, self._ring)

    def close(self) -> None:
        """See L{Alarm}."""
        cancel(self._call)
        self._call = None

    def _ring(self) -> None:
        self._call = None
        self._due()


@implementer(IReadDescriptor)
class DescriptorAlarm:
    """A timerfd that the reactor watches."""

    def __init__(self, reactor: IReactorFDSet, due: Callable[[], None]) -> None:
        self._reactor, self._due = reactor, due
        self._timer = _Timer()
        reactor.addReader(self)

    def set(self, at: int | None) -> None:
        """See L{Alarm}."""
        # Zero would disarm it; one millisecond of 1970 is past as well.
        self._timer.arm(0 if at is None else max(1, at))

    def close(self) -> None:
        """See L{Alarm}."""
        if self._timer.descriptor >= 0:
            self._reactor.removeReader(self)
            self._timer.close()

    def fileno(self) -> int:
        """What the reactor watches."""
        return self._timer.descriptor

    def logPrefix(self) -> str:
        """For the reactor's own log."""
        return "alarm"

    def doRead(self) -> None:
        """It went off, or the clock was set."""
        if self._timer.taken():
            self._due()

    def connectionLost(self, reason: Failure) -> None:
        """The reactor lets go of it, at its end."""
        self._timer.close()


class _Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


class _Setting(ctypes.Structure):
    """C{struct itimerspec}."""

    _fields_ = [("interval", _Moment), ("value", _Moment)]


class _Timer:
    """timerfd_create(2); Python has it from 3.13 on."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        made = self._libc.timerfd_create(time.CLOCK_REALTIME, _FLAGS)
        self.descriptor: int = self._checked(made)

    def arm(self, at: int) -> None:
        """Go off at C{at} milliseconds, or when the clock is set; 0 disarms."""
        setting = _Setting()
        setting.value = _Moment(at // 1000, at % 1000 * 1_000_000)
        flags = _ABSTIME | _CANCEL_ON_SET
        done = self._libc.timerfd_settime(self.descriptor, flags, ctypes.byref(setting), None)
        # It is armed all the same; this only says that the clock was set since the last time.
        if done != 0 and ctypes.get_errno() != errno.ECANCELED:
            self._checked(done)

    def taken(self) -> bool:
        """Whether it went off; takes the news."""
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

    def _checked(self, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result
