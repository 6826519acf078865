"""Requests for coroutines of asyncio, where Twisted runs on an asyncio reactor."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from twisted.internet.defer import Deferred

from tservice.client.link.stream import Stream
from tservice.client.wires.interface import Wire

T = TypeVar("T")


class AsyncioWire:
    """L{Wire} whose coroutines wait for futures of asyncio.

    @param wire: transport whose coroutines wait for Deferreds.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload."""
        return await _future(self._wire.call(method, path, body, query, wait_ms))

    async def sleep(self, seconds: float) -> None:
        """Wait while the event loop runs."""
        await asyncio.sleep(seconds)

    def stream(self, session_id: str, epoch: str | None, offset: int | None) -> Stream:
        """Return a session's terminal stream, not connected yet."""
        return self._wire.stream(session_id, epoch, offset)

    async def connect(self, stream: Stream) -> None:
        """Connect a stream."""
        await _future(self._wire.connect(stream))

    async def ready(self, stream: Stream) -> None:
        """Wait until there may be more data."""
        await _future(self._wire.ready(stream))


async def _future(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    return await Deferred.fromCoroutine(work).asFuture(loop)
