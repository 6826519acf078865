"""Interface of the client's transport, the same for blocking and asynchronous use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tservice.client.link.stream import Stream


class Wire(Protocol):
    """Transport of requests and streams, with a sleep that suits it."""

    async def call(
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

    def stream(self, session_id: str, epoch: str | None, offset: int | None) -> Stream:
        """Return a session's terminal stream, not connected yet."""

    async def connect(self, stream: Stream) -> None:
        """Connect a stream.

        @raise Lost: a later try may succeed.
        @raise ApiError: a later try will not succeed; also C{Unusable}.
        """

    async def ready(self, stream: Stream) -> None:
        """Return when there may be data to receive, or unsent data can be sent."""
