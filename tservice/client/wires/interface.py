"""Interface of the client's transports, for both blocking and asynchronous use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tservice.client.link.stream import TerminalConnection


class Wire(Protocol):
    """Transport of requests and terminal streams. It also provides a matching C{sleep}."""

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
        """Return the terminal stream of a session. It is not connected yet.

        @param epoch: together with C{offset}, the output position to begin at. C{None} begins with
            the screen.
        """

    async def connect_stream(self, stream: TerminalConnection) -> None:
        """Connect a terminal stream.

        @raise Lost: the connection failed, and a later attempt may succeed.
        @raise ApiError: the service refused, and so would a later attempt. The same holds for
            C{Unusable}.
        """

    async def wait_ready(self, stream: TerminalConnection) -> None:
        """Wait until the stream may have received data, or can send more."""
