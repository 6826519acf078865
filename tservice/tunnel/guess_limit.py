"""Limit of wrong codes per minute from all senders (protocol-failures)."""

from __future__ import annotations

from collections import deque

from twisted.internet.interfaces import IReactorTime

MAX_GUESSES = 30
WINDOW_SECONDS = 60.0


class GuessLimit:
    """Wrong codes of the last minute, from all addresses.

    An attacker can change the address for every guess, but cannot evade this limit.  With six
    characters out of 62 and three codes at a time, a year of guessing succeeds with a chance of 1
    in 1200.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=MAX_GUESSES)

    def record_guess(self) -> None:
        """Record a wrong code."""
        self._times.append(self._clock.seconds())

    def seconds_blocked(self) -> float:
        """Return 0 if another guess is accepted, else the seconds until then."""
        if len(self._times) < MAX_GUESSES:
            return 0.0
        return max(0.0, self._times[0] + WINDOW_SECONDS - self._clock.seconds())
