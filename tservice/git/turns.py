"""Letting the reactor see to others in between."""

from __future__ import annotations

from collections import deque

from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime


class Turns:
    """One thing in each turn of the reactor, in the order in which they came.

    For what holds the reactor up by itself, as starting a process does: several of them in one
    turn would hold up everybody else for as long as all of them take.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._taken = False
        self._waiting: deque[Deferred[None]] = deque()

    def next(self) -> Deferred[None]:
        """Fires at once where this turn is free, else in a later one; may be cancelled."""
        if not self._taken:
            self._take()
            return succeed(None)
        waiter: Deferred[None] = Deferred(self._waiting.remove)
        self._waiting.append(waiter)
        return waiter

    def _take(self) -> None:
        self._taken = True
        self._clock.callLater(0, self._pass)

    def _pass(self) -> None:
        self._taken = False
        if self._waiting:
            self._take()
            self._waiting.popleft().callback(None)
