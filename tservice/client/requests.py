"""API operations that are sent over a transport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tservice.client.typed.operations import Operations
from tservice.client.wires.interface import Wire


class ApiRequests(Operations):
    """API of one service, with the credentials of one user or token.

    @ivar wire: transport that sends the requests.
    """

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload. Each operation of the API also has a separate
        method.
        """
        words = {name: _format_query_value(value) for name, value in (query or {}).items()}
        return await self.wire.send_request(method, path, body, words, wait_ms)


def _format_query_value(value: object) -> object:
    """Convert a value to the form that it has in a query."""
    if isinstance(value, bool):
        return int(value)
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
