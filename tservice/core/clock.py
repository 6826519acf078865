"""Time: that of the day, and how long things take, read from a clock that was handed in.

A clock's C{seconds} are for spans alone.  In the daemon they go on steadily (L{steady}) whatever
is done to the machine's clock, which is set at a boot, by hand, by a network that is there again;
a test's clock is both.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Programs that are over in an instant ask here too, and do without Twisted.
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IReactorTime

LATEST_MS = 253402300799999
"""The end of the year 9999: the last moment that a date can show."""


def now_ms(clock: IReactorTime) -> int:
    """The clock's time in Unix milliseconds, the unit of every time on the wire."""
    return int(unix_seconds(clock) * 1000)


def unix_seconds(clock: IReactorTime) -> float:
    """The clock's time of the day."""
    seconds: float = getattr(clock, "time_of_day", clock.seconds)()
    return seconds


def steady(reactor: Any) -> None:
    """Have a reactor's timers wait as long as they were told to.

    Twisted compares them with the time of the day: after a step back of an hour none would go off
    for an hour, a key's or a time-out's neither.  Steady seconds go on while the machine sleeps.

    @raise RuntimeError: there are timers by the other clock already.
    """
    if reactor.getDelayedCalls():
        raise RuntimeError("a timer was set before its clock")
    reactor.time_of_day = time.time
    reactor.seconds = _since_boot


def seconds_until(clock: IReactorTime, moment: int, most: float) -> float:
    """How long it is to C{moment}, in Unix milliseconds: never negative, at most C{most} seconds.

    It is 0 only when L{now_ms} has come to it.
    """
    return min(most, max(0.0, (moment - now_ms(clock)) / 1000))


def _since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def system_seconds() -> float:
    """The machine's clock in Unix seconds, for a program without a reactor to hand on."""
    return time.time()


def sleep(clock: IReactorTime, seconds: float) -> Deferred[None]:
    """A Deferred that fires after C{seconds}; cancelling it cancels the timer."""
    from twisted.internet.defer import Deferred

    done: Deferred[None] = Deferred(lambda _: call.cancel())
    call = clock.callLater(seconds, done.callback, None)
    return done
