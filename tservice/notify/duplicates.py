"""Filter of duplicate messages."""

from __future__ import annotations

from twisted.internet.interfaces import IReactorTime

from tservice.notify.notifications import NotificationEvent

QUIET_SECONDS = 3.0
"""Seconds in which repetitions of an event of the same session cause no further message
(protocol-webhooks).
"""
ECHO_SECONDS = 10.0
"""The same period for notifications of agents.

An agent sends its notification about 6 s after its own hook for the same dialog
(protocol-hook-config).
"""
REMEMBERED = 1000
"""Maximum number of events that the filter remembers.

Beyond it the oldest is forgotten, and a repetition of it causes a message.
"""


class DuplicateFilter:
    """Filter that remembers recent events in memory, until the service restarts."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}

    def check_new_and_remember(self, what: NotificationEvent) -> bool:
        """Return true if C{what} is not a duplicate, and remember it."""
        key, now = (what.event, what.about), self._clock.seconds()
        quiet = ECHO_SECONDS if what.repeats else QUIET_SECONDS
        told = self._told.get(key)
        # A clock that was set back must not suppress messages.
        if told is not None and 0 <= now - told < quiet:
            return False
        self._told.pop(key, None)
        self._told[key] = now
        while len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
        return True
