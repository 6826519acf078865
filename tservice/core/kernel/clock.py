"""Time of day and durations, read from a clock that is passed in.

Use a clock's C{seconds} for durations only.  In the daemon they are monotonic
(L{use_monotonic_time}): they do not jump when the system clock is set.  In tests one clock gives
both the time of day and durations.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Short-lived programs import this module too, and must not load Twisted.
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IReactorTime

LATEST_MS = 253402300799999
"""End of the year 9999 in Unix milliseconds, the latest time that Python's C{datetime} can hold."""


def get_unix_ms(clock: IReactorTime) -> int:
    """Return the current time in Unix milliseconds, the unit of all times in the API."""
    return int(get_unix_seconds(clock) * 1000)


def get_unix_seconds(clock: IReactorTime) -> float:
    """Return the clock's time of day in Unix seconds."""
    seconds: float = getattr(clock, "time_of_day", clock.seconds)()
    return seconds


def use_monotonic_time(reactor: Any) -> None:
    """Make a reactor's timers run on the monotonic clock.

    Twisted compares timers with the time of day.  If the clock were set back by one hour, no timer
    would fire for an hour, and time-outs would stall.  The seconds used here also advance while the
    machine sleeps.

    @raise RuntimeError: timers were already set by the other clock.
    """
    if reactor.getDelayedCalls():
        raise RuntimeError("a timer was set before the clock was replaced")
    reactor.time_of_day = time.time
    reactor.seconds = _get_boot_seconds


def seconds_until(clock: IReactorTime, moment: int, most: float) -> float:
    """Return the seconds until C{moment}: at least 0, at most C{most}.

    The result is 0 only once L{get_unix_ms} has reached C{moment}.

    @param moment: the time in Unix milliseconds.
    """
    return min(most, max(0.0, (moment - get_unix_ms(clock)) / 1000))


def _get_boot_seconds() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def get_system_seconds() -> float:
    """Return the system clock in Unix seconds, for programs that have no reactor to pass on."""
    return time.time()


def wait_seconds(clock: IReactorTime, seconds: float) -> Deferred[None]:
    """Return a Deferred that fires after C{seconds}; cancelling it cancels the timer."""
    from twisted.internet.defer import Deferred

    done: Deferred[None] = Deferred(lambda _: call.cancel())
    call = clock.callLater(seconds, done.callback, None)
    return done
