"""Transport that blocks its thread, with neither reactor nor third-party packages."""

from __future__ import annotations

import select
from collections.abc import Mapping
from typing import Any

from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.link.stream import TerminalConnection


class BlockingWire:
    """L{Wire} whose coroutines never suspend, so that L{run_synchronously} can run them."""

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
        """Send one request and return the payload of the response."""
        return self._caller.send_request(method, path, body, query, wait_ms)

    async def sleep(self, seconds: float) -> None:
        """Block for some seconds."""
        select.select([], [], [], seconds)

    def open_stream(
        self, session_id: str, epoch: str | None, offset: int | None
    ) -> TerminalConnection:
        """Return the terminal stream of a session. It is not connected yet."""
        return TerminalConnection(self._address, session_id, epoch, offset)

    async def connect_stream(self, stream: TerminalConnection) -> None:
        """Connect a terminal stream."""
        stream.connect()

    async def wait_ready(self, stream: TerminalConnection) -> None:
        """Block until the stream may have received data, or can send more."""
        socket = stream.socket
        if socket is not None and not socket.has_pending_data:
            select.select([socket], [socket] if socket.unsent else [], [])
