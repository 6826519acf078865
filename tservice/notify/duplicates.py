"""Suppression of duplicate messages."""

from __future__ import annotations

from twisted.internet.interfaces import IReactorTime

from tservice.notify.notifications import NotificationEvent

QUIET_SECONDS = 3.0
"""Period in which the same event of the same session causes one message (protocol-webhooks)."""
ECHO_SECONDS = 10.0
"""Period for notifications: an agent's notification follows its own hook of the same dialog by 6
s (protocol-hook-config).
"""
REMEMBERED = 1000
"""Maximum remembered events; beyond it the oldest is forgotten, and could be sent again."""


class DuplicateFilter:
    """Remembers recent events.  A restart forgets them."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}

    def is_new(self, what: NotificationEvent) -> bool:
        """Return whether C{what} is not a duplicate, and remember it."""
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
