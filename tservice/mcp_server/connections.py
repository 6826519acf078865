"""Connections of MCP clients over HTTP, identified by MCP session ids. Their number is limited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from attrs import define
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity

MAX_CONNECTIONS = 256
"""Maximum number of open connections."""
MAX_PER_OWNER = 32
"""Maximum number of connections of one user or token. A further connection ends the oldest."""
IDLE_SECONDS = 6 * 3600.0
"""Seconds without a request and without an open stream after which a connection ends."""


class NotificationSink(Protocol):
    """Stream to which a connection's notifications are written."""

    def write_bytes(self, data: bytes) -> None:
        """Send data after all earlier data."""

    def end_stream(self) -> None:
        """End the stream."""


@define(eq=False)
class McpConnection:
    """Connection of one MCP client.

    @ivar owner: user name, and the token if the client uses one.
    @ivar last_used: time of the last request, in seconds of the reactor's clock.
    @ivar version: revision of MCP that was agreed on; empty before the agreement.
    @ivar is_quiet: true if the client wants no notices.
    @ivar sink: stream for notifications, or C{None} while the client has none open.
    """

    key: str
    owner: tuple[str, str | None]
    last_used: float
    version: str = ""
    is_quiet: bool = False
    sink: NotificationSink | None = None


class McpConnections:
    """Registry of open connections, from the least to the most recently used."""

    def __init__(self, clock: IReactorTime, random: Callable[[int], bytes]) -> None:
        self._clock, self._random = clock, random
        self._open: dict[str, McpConnection] = {}

    def __len__(self) -> int:
        return len(self._open)

    def open(self, identity: Identity) -> McpConnection:
        """Open a connection. If a limit is reached, an older connection is ended."""
        self._end_idle()
        who = get_connection_owner(identity)
        own = [each for each in self._open.values() if each.owner == who]
        if len(own) >= MAX_PER_OWNER:
            self._remove_connection(own[0])
        if len(self._open) >= MAX_CONNECTIONS:
            self._end_connection_if_full()
        made = McpConnection(self._random(16).hex(), who, self._clock.seconds())
        self._open[made.key] = made
        return made

    def find(self, key: str, identity: Identity) -> McpConnection | None:
        """Return the caller's connection with this id, and mark it as used; C{None} if there is
        none.
        """
        self._end_idle()
        found = self._open.get(key)
        if found is None or found.owner != get_connection_owner(identity):
            return None
        found.last_used = self._clock.seconds()
        self._open[key] = self._open.pop(key)
        return found

    def end_connection(self, found: McpConnection) -> None:
        """End a connection, if it is open."""
        if found.key in self._open:
            self._remove_connection(found)

    def find_listening(self) -> list[McpConnection]:
        """Return the connections with an open stream for notifications."""
        return [each for each in self._open.values() if each.sink is not None]

    def end_all(self) -> None:
        """End all connections."""
        for each in tuple(self._open.values()):
            self._remove_connection(each)

    def _end_connection_if_full(self) -> None:
        """End a connection of the user who has the most.

        A user with many tokens must not displace the connections of others.
        """
        names = Counter(each.owner[0] for each in self._open.values())
        [(most, _)] = names.most_common(1)
        self._remove_connection(next(each for each in self._open.values() if each.owner[0] == most))

    def _remove_connection(self, found: McpConnection) -> None:
        del self._open[found.key]
        if found.sink is not None:
            found.sink.end_stream()

    def _end_idle(self) -> None:
        old = self._clock.seconds() - IDLE_SECONDS
        for each in tuple(self._open.values()):
            if each.last_used < old and each.sink is None:
                self._remove_connection(each)


def get_connection_owner(identity: Identity) -> tuple[str, str | None]:
    """Return the owner of a connection: the user name, and the token or C{None}."""
    return identity.username, identity.token
