"""Interface of the client's transport, the same for blocking and asynchronous use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tservice.client.link.stream import TerminalConnection


class Wire(Protocol):
    """Transport of requests and streams, with a sleep that suits it."""

    async def send_request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload; see L{tservice.client.calling.Calling.call}."""

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""

    def open_stream(
        self, session_id: str, epoch: str | None, offset: int | None
    ) -> TerminalConnection:
        """Return a session's terminal stream, not connected yet."""

    async def connect_stream(self, stream: TerminalConnection) -> None:
        """Connect a stream.

        @raise Lost: a later try may succeed.
        @raise ApiError: a later try will not succeed; also C{Unusable}.
        """

    async def wait_ready(self, stream: TerminalConnection) -> None:
        """Return when there may be data to receive, or unsent data can be sent."""
