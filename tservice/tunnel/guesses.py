"""How many wrong codes there may be in a minute, whoever sends them (protocol-failures)."""

from __future__ import annotations

from collections import deque

from twisted.internet.interfaces import IReactorTime

MOST = 30
SECONDS = 60.0


class Guesses:
    """Wrong codes of the last minute, over all addresses.

    An address can be changed for every guess; this bound cannot be walked around.  With six signs
    out of 62 and three codes at a time, a year of guessing finds one with a chance of 1 in 1200.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=MOST)

    def note(self) -> None:
        """Count one."""
        self._times.append(self._clock.seconds())

    def blocked(self) -> float:
        """0 while another guess is looked at, else the seconds until then."""
        if len(self._times) < MOST:
            return 0.0
        return max(0.0, self._times[0] + SECONDS - self._clock.seconds())
