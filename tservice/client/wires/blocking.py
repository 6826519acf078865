"""Requests that block their thread: no reactor, standard library only."""

from __future__ import annotations

import select
from collections.abc import Mapping
from typing import Any

from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.link.stream import TerminalConnection


class BlockingWire:
    """L{AbortableTransport} whose coroutines never suspend: L{finished} runs them."""

    def __init__(self, address: ServiceAddress) -> None:
        self._address = address
        self._caller = ApiCaller(address)

    async def send_request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload."""
        return self._caller.send_request(method, path, body, query, wait_ms)

    async def sleep(self, seconds: float) -> None:
        """Block for some seconds."""
        select.select([], [], [], seconds)

    def open_stream(
        self, session_id: str, epoch: str | None, offset: int | None
    ) -> TerminalConnection:
        """Return a session's terminal stream, not connected yet."""
        return TerminalConnection(self._address, session_id, epoch, offset)

    async def connect_stream(self, stream: TerminalConnection) -> None:
        """Connect a stream."""
        stream.connect()

    async def wait_ready(self, stream: TerminalConnection) -> None:
        """Block until there may be more data."""
        socket = stream.socket
        if socket is not None and not socket.has_pending_data:
            select.select([socket], [socket] if socket.unsent else [], [])
