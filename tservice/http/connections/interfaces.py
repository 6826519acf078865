"""Interfaces of the server as seen by connections and by requests."""

from __future__ import annotations

from typing import Any, Protocol

from tservice.http.connections.fair_scheduler import FairScheduler


class EarlyResponseRequest(Protocol):
    """Request that can be answered before its body is complete."""

    def answer_early(self, command: bytes, path: bytes, version: bytes) -> None:
        """Respond to the request now, without the rest of its body."""


class StreamedRequest(EarlyResponseRequest, Protocol):
    """Request whose handler reads the body while it arrives.

    @ivar discards_rest: true if the rest of the body is discarded.
    """

    @property
    def discards_rest(self) -> bool: ...

    def body_ended(self) -> None:
        """Handle the end of the body."""


class ConnectionServer(Protocol):
    """Factory of the connections.

    @ivar reactor: provides the clock.
    @ivar requestFactory: makes a request for a channel.
    @ivar timeOut: seconds of silence that end a connection.
    @ivar turns: scheduler of connections whose bytes are costly to process.
    """

    reactor: Any
    requestFactory: Any
    timeOut: Any
    turns: FairScheduler

    def connection_ended(self, connection: Any) -> None:
        """Handle the end of a connection."""


class RequestResponder(Protocol):
    """Resource that answers requests."""

    def authorize_upload(self, request: Any, method: bytes, target: bytes) -> None:
        """Start to authorize the sender of a request whose body is still arriving.

        After a refusal the rest of the body is not accepted.

        @param target: path and query of the request line.
        """

    def get_body_limit(self, method: bytes, path: bytes) -> int:
        """Return the limit in bytes on the body."""

    def is_streamed(self, method: bytes, path: bytes, form: bool) -> bool:
        """Return whether the handler reads the body while it arrives."""

    def render(self, request: Any) -> Any:
        """Respond to the request."""


class RequestServer(ConnectionServer, Protocol):
    """Server as seen by its requests."""

    kernel: RequestResponder

    def reserve_body_bytes(self, size: int) -> bool:
        """Reserve memory for C{size} bytes of request body; return true if the limit allows it."""

    def count_for_account(self, request: Any, account: str, *, admin: bool = False) -> None:
        """Count the response to C{request} as one in progress for C{account}."""

    def log(self, request: Any) -> None:
        """Count a finished response in the metrics."""
