"""Transport for asyncio coroutines, if Twisted runs on an asyncio reactor."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from twisted.internet.defer import Deferred

from tservice.client.link.stream import TerminalConnection
from tservice.client.wires.interface import Wire

T = TypeVar("T")


class AsyncioWire:
    """L{Wire} whose coroutines wait for futures of asyncio.

    @param wire: transport whose coroutines wait for Deferreds.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def send_request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return the payload of the response."""
        return await _as_future(self._wire.send_request(method, path, body, query, wait_ms))

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds while the event loop runs."""
        await asyncio.sleep(seconds)

    def open_stream(
        self, session_id: str, epoch: str | None, offset: int | None
    ) -> TerminalConnection:
        """Return the terminal stream of a session. It is not connected yet."""
        return self._wire.open_stream(session_id, epoch, offset)

    async def connect_stream(self, stream: TerminalConnection) -> None:
        """Connect a terminal stream."""
        await _as_future(self._wire.connect_stream(stream))

    async def wait_ready(self, stream: TerminalConnection) -> None:
        """Wait until the stream may have received data, or can send more."""
        await _as_future(self._wire.wait_ready(stream))


async def _as_future(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    return await Deferred.fromCoroutine(work).asFuture(loop)
