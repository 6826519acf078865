"""Clients that are connected by HTTP: their session ids, of which there are only so many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from attrs import define
from twisted.internet.interfaces import IReactorTime

from tservice.core.identity import Identity

MOST = 256
"""Connections at a time."""
EACH = 32
"""Connections of one person or token; for one more its oldest goes, as if it had ended."""
IDLE_SECONDS = 6 * 3600.0
"""Without a request for so long, and without a stream, a connection is over."""


class Told(Protocol):
    """What notifications of a connection go to."""

    def write(self, data: bytes) -> None:
        """Send it in its turn."""

    def end(self) -> None:
        """No more is sent."""


@define(eq=False)
class Connection:
    """One client.

    @ivar who: the person, and the token where there is one.
    @ivar seen: when it asked last, in seconds of the reactor's clock.
    @ivar version: the revision of MCP that was agreed on; C{""}: none yet.
    @ivar quiet: it wants no notices.
    @ivar told: where its notifications go, while it listens.
    """

    key: str
    who: tuple[str, str | None]
    seen: float
    version: str = ""
    quiet: bool = False
    told: Told | None = None


class Connections:
    """All of them, the one that asked longest ago first."""

    def __init__(self, clock: IReactorTime, random: Callable[[int], bytes]) -> None:
        self._clock, self._random = clock, random
        self._open: dict[str, Connection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def open(self, identity: Identity) -> Connection:
        """Open a connection; others may be ended for it."""
        self._expire()
        who = person(identity)
        own = [each for each in self._open.values() if each.who == who]
        if len(own) >= EACH:
            self._end(own[0])
        if len(self._open) >= MOST:
            self._make_room()
        made = Connection(self._random(16).hex(), who, self._clock.seconds())
        self._open[made.key] = made
        return made

    def find(self, key: str, identity: Identity) -> Connection | None:
        """The connection of that id, if it is this caller's; it counts as used."""
        self._expire()
        found = self._open.get(key)
        if found is None or found.who != person(identity):
            return None
        found.seen = self._clock.seconds()
        self._open[key] = self._open.pop(key)
        return found

    def end(self, found: Connection) -> None:
        """It is over."""
        if found.key in self._open:
            self._end(found)

    def listening(self) -> list[Connection]:
        """Those that hear notifications."""
        return [each for each in self._open.values() if each.told is not None]

    def close(self) -> None:
        """All of them are over."""
        for each in tuple(self._open.values()):
            self._end(each)

    def _make_room(self) -> None:
        """Who has tokens without number must not push out others by connections of each."""
        names = Counter(each.who[0] for each in self._open.values())
        [(most, _)] = names.most_common(1)
        self._end(next(each for each in self._open.values() if each.who[0] == most))

    def _end(self, found: Connection) -> None:
        del self._open[found.key]
        if found.told is not None:
            found.told.end()

    def _expire(self) -> None:
        old = self._clock.seconds() - IDLE_SECONDS
        for each in tuple(self._open.values()):
            if each.seen < old and each.told is None:
                self._end(each)


def person(identity: Identity) -> tuple[str, str | None]:
    """Whose a connection is."""
    return identity.username, identity.token
