"""Whose bytes are taken in next: a little of each connection in each turn of the reactor.

What a client packs well costs much to unpack, and others, with their terminals, wait meanwhile.  So
all connections of HTTP/2 and all WebSockets share what one turn may cost, however many they are,
and a key that was pressed waits in no line behind those that bring much.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from twisted.internet.interfaces import IDelayedCall
from twisted.logger import Logger

from tservice.core.timers import cancel

TURN = 64
"""What one turn of the reactor may cost, in small frames: some milliseconds."""
SHARE = 16
"""What one connection may take of it before the next one's turn."""


class Taker(Protocol):
    """A connection of which bytes wait."""

    def take(self) -> None:
        """Take in a share of them, and L{Turns.wait} for more."""

    def drop(self) -> None:
        """Cut it."""


class Turns:
    """The connections of one server that wait; each is there once at most.

    Those that have come with something stand in another line than those that had a share already
    and have more.  The two go first by turns: neither waits for all of the other.
    """

    _log = Logger()

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._left = TURN
        self._come: deque[Taker] = deque()
        self._served: deque[Taker] = deque()
        self._lines = [self._served, self._come]
        self._next: IDelayedCall | None = None

    def has_room(self) -> bool:
        """Whether more may be taken in before the reactor's next turn."""
        return self._left > 0 and not self._waiting

    def spend(self, cost: int) -> None:
        """So much was taken in, in small frames."""
        self._left -= cost
        self._call()

    def wait(self, taker: Taker, *, again: bool = False) -> None:
        """Call C{taker} when it is its turn.

        @param again: it has had a share, and has more.
        """
        (self._served if again else self._come).append(taker)
        self._call()

    def leave(self, taker: Taker) -> None:
        """Call it no more, if it waits."""
        for line in self._lines:
            if taker in line:
                line.remove(taker)
        if not self._waiting and self._left == TURN:
            cancel(self._next)
            self._next = None

    @property
    def _waiting(self) -> bool:
        return any(self._lines)

    def _call(self) -> None:
        if self._next is None:
            self._next = self._reactor.callLater(0, self._turn)

    def _turn(self) -> None:
        self._next, self._left = None, TURN
        self._lines.reverse()
        for line in self._lines:
            while line and self._left > 0:
                self._serve(line.popleft())
        if self._waiting:
            self._call()

    def _serve(self, taker: Taker) -> None:
        try:
            taker.take()
        except Exception:
            self._log.failure("a connection failed over what came in")
            taker.drop()
