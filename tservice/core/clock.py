"""Wall-clock time, read from a clock that was handed in."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Programs that are over in an instant ask here too, and do without Twisted.
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IReactorTime

LATEST_MS = 253402300799999
"""The end of the year 9999: the last moment that a date can show."""


def now_ms(clock: IReactorTime) -> int:
    """The clock's time in Unix milliseconds, the unit of every time on the wire."""
    return int(clock.seconds() * 1000)


def seconds_until(clock: IReactorTime, moment: int, most: float) -> float:
    """How long it is to C{moment}, in Unix milliseconds: never negative, at most C{most} seconds.

    It is 0 only when L{now_ms} has come to it.
    """
    return min(most, max(0.0, (moment - now_ms(clock)) / 1000))


def system_seconds() -> float:
    """The machine's clock in Unix seconds, for a program without a reactor to hand on."""
    return time.time()


def sleep(clock: IReactorTime, seconds: float) -> Deferred[None]:
    """A Deferred that fires after C{seconds}; cancelling it cancels the timer."""
    from twisted.internet.defer import Deferred

    done: Deferred[None] = Deferred(lambda _: call.cancel())
    call = clock.callLater(seconds, done.callback, None)
    return done
