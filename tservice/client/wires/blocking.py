"""Requests that block their thread: no reactor, standard library only."""

from __future__ import annotations

import select
from collections.abc import Mapping
from typing import Any

from tservice.client.link.address import Address
from tservice.client.link.caller import Caller
from tservice.client.link.stream import Stream


class BlockingWire:
    """L{Wire} whose coroutines never suspend: L{finished} runs them."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._caller = Caller(address)

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload."""
        return self._caller.call(method, path, body, query, wait_ms)

    async def sleep(self, seconds: float) -> None:
        """Block for some seconds."""
        select.select([], [], [], seconds)

    def stream(self, session_id: str, epoch: str | None, offset: int | None) -> Stream:
        """Return a session's terminal stream, not connected yet."""
        return Stream(self._address, session_id, epoch, offset)

    async def connect(self, stream: Stream) -> None:
        """Connect a stream."""
        stream.connect()

    async def ready(self, stream: Stream) -> None:
        """Block until there may be more data."""
        socket = stream.socket
        if socket is not None and not socket.ready:
            select.select([socket], [socket] if socket.unsent else [], [])
