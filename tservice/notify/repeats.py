"""Telling of the same thing once."""

from __future__ import annotations

from twisted.internet.interfaces import IReactorTime

from tservice.notify.happenings import Happening

QUIET_SECONDS = 3.0
"""The same event of the same session is told once in this time (protocol-webhooks)."""
ECHO_SECONDS = 10.0
"""An agent's notification follows its own hook of the same dialog by 6 s (protocol-hook-config)."""
REMEMBERED = 1000
"""Events remembered; past that the oldest is forgotten, and might be told again."""


class Repeats:
    """Remembers what was told a moment ago.  A restart forgets."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}

    def is_new(self, what: Happening) -> bool:
        """Whether to tell of C{what} now; remembers it if so."""
        key, now = (what.event, what.about), self._clock.seconds()
        quiet = ECHO_SECONDS if what.repeats else QUIET_SECONDS
        told = self._told.get(key)
        # A clock that was set back must not keep everything quiet.
        if told is not None and 0 <= now - told < quiet:
            return False
        self._told.pop(key, None)
        self._told[key] = now
        while len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
        return True
