"""Every operation of the API over a wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tservice.client.typed.operations import Operations
from tservice.client.wires.interface import Wire


class Requests(Operations):
    """The API of one service, as somebody.

    @ivar wire: what the requests travel by.
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
        """The payload of one request; each operation has a method of its own beside this."""
        words = {name: _word(value) for name, value in (query or {}).items()}
        return await self.wire.call(method, path, body, words, wait_ms)


def _word(value: object) -> object:
    """As a query spells it."""
    if isinstance(value, bool):
        return int(value)
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
