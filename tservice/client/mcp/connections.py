"""Connections of MCP clients over HTTP: a limited number of session ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from attrs import define
from twisted.internet.interfaces import IReactorTime

from tservice.core.identity import Identity

MOST = 256
"""Limit of simultaneous connections."""
EACH = 32
"""Connections of one person or token; a further connection ends the oldest."""
IDLE_SECONDS = 6 * 3600.0
"""Seconds without a request and without a stream after which a connection ends."""


class Told(Protocol):
    """Receiver of a connection's notifications."""

    def write_bytes(self, data: bytes) -> None:
        """Send data in order."""

    def end_stream(self) -> None:
        """Stop sending."""


@define(eq=False)
class Connection:
    """Connection of one client.

    @ivar who: the person, and the token if there is one.
    @ivar seen: time of the last request, in seconds of the reactor's clock.
    @ivar version: the agreed revision of MCP; C{""} before the agreement.
    @ivar quiet: the client wants no notices.
    @ivar told: receiver of its notifications, C{None} while it does not listen.
    """

    key: str
    who: tuple[str, str | None]
    seen: float
    version: str = ""
    quiet: bool = False
    told: Told | None = None


class Connections:
    """Open connections, ordered by last use with the oldest first."""

    def __init__(self, clock: IReactorTime, random: Callable[[int], bytes]) -> None:
        self._clock, self._random = clock, random
        self._open: dict[str, Connection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def open(self, identity: Identity) -> Connection:
        """Open a connection; older connections may be ended for it."""
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
        """Return the connection with this id if it belongs to the caller, and mark it as used."""
        self._expire()
        found = self._open.get(key)
        if found is None or found.who != person(identity):
            return None
        found.seen = self._clock.seconds()
        self._open[key] = self._open.pop(key)
        return found

    def end(self, found: Connection) -> None:
        """End a connection, if it is open."""
        if found.key in self._open:
            self._end(found)

    def listening(self) -> list[Connection]:
        """Return the connections that receive notifications."""
        return [each for each in self._open.values() if each.told is not None]

    def close(self) -> None:
        """End all connections."""
        for each in tuple(self._open.values()):
            self._end(each)

    def _make_room(self) -> None:
        """End a connection of the user with the most. A user with many tokens must not push out
        others.
        """
        names = Counter(each.who[0] for each in self._open.values())
        [(most, _)] = names.most_common(1)
        self._end(next(each for each in self._open.values() if each.who[0] == most))

    def _end(self, found: Connection) -> None:
        del self._open[found.key]
        if found.told is not None:
            found.told.end_stream()

    def _expire(self) -> None:
        old = self._clock.seconds() - IDLE_SECONDS
        for each in tuple(self._open.values()):
            if each.seen < old and each.told is None:
                self._end(each)


def person(identity: Identity) -> tuple[str, str | None]:
    """Return the owner of a connection: user name and token."""
    return identity.username, identity.token
