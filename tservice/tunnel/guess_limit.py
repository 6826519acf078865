"""Limit of wrong codes per minute, counted over all clients (protocol-failures)."""

from __future__ import annotations

from collections import deque

from twisted.internet.interfaces import IReactorTime

MAX_GUESSES = 30
WINDOW_SECONDS = 60.0


class WrongCodeLimit:
    """Counter of the wrong codes of the last minute, from all addresses.

    An attacker can use another address for every guess, but cannot evade this limit. Codes have six
    characters out of 62, and three are valid at a time. A year of guessing succeeds with a chance
    of 1 in 1200.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=MAX_GUESSES)

    def record_wrong_code(self) -> None:
        """Count a wrong code."""
        self._times.append(self._clock.seconds())

    def get_blocked_seconds(self) -> float:
        """Return the seconds until another code is accepted; 0 if one is accepted now."""
        if len(self._times) < MAX_GUESSES:
            return 0.0
        return max(0.0, self._times[0] + WINDOW_SECONDS - self._clock.seconds())
