"""What the client asks of the world: the same whether it blocks or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tservice.client.link.stream import Stream


class Wire(Protocol):
    """How requests and streams travel, and how time passes."""

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """The payload of one request; see L{tservice.client.calling.Calling.call}."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""

    def stream(self, session_id: str, epoch: str | None, offset: int | None) -> Stream:
        """A session's terminal, not connected yet."""

    async def connect(self, stream: Stream) -> None:
        """Connect it.

        @raise Lost: it may work later.
        @raise ApiError: it will not; also C{Unusable}.
        """

    async def ready(self, stream: Stream) -> None:
        """Return when there may be something to receive, or to send on."""
