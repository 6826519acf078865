"""What a connection knows of the server behind it, and the server of its requests."""

from __future__ import annotations

from typing import Any, Protocol

from tservice.http.connections.turns import Turns


class Early(Protocol):
    """A request that can be answered before its body is here."""

    def answer_early(self, command: bytes, path: bytes, version: bytes) -> None:
        """Answer it now."""


class Streamed(Early, Protocol):
    """A request whose handler reads the body while it arrives.

    @ivar thrown: nobody wants what still comes.
    """

    @property
    def thrown(self) -> bool: ...

    def body_ended(self) -> None:
        """All of it is here."""


class ConnectionServer(Protocol):
    """The factory of the connections.

    @ivar reactor: its clock.
    @ivar requestFactory: makes a request for a channel.
    @ivar timeOut: seconds of silence that end a connection.
    @ivar turns: whose bytes are taken in next, where they cost much.
    """

    reactor: Any
    requestFactory: Any
    timeOut: Any
    turns: Turns

    def connection_ended(self, connection: Any) -> None:
        """A connection is over."""


class Responder(Protocol):
    """Who answers requests."""

    def vouch(self, request: Any, method: bytes, target: bytes) -> None:
        """Judge a request whose body still arrives."""

    def body_bound(self, method: bytes, path: bytes) -> int:
        """How many bytes a body may have."""

    def is_streamed(self, method: bytes, path: bytes, form: bool) -> bool:
        """Whether the handler reads such a body while it arrives."""

    def render(self, request: Any) -> Any:
        """Answer it."""


class RequestServer(ConnectionServer, Protocol):
    """The server, as its requests know it."""

    kernel: Responder

    def hold(self, size: int) -> bool:
        """Take C{size} bytes of request body into account; whether they may be kept."""

    def share(self, request: Any, account: str, *, admin: bool = False) -> None:
        """Count the answer to C{request} as one of C{account}'s."""

    def log(self, request: Any) -> None:
        """Count an answer."""
