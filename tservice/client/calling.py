"""Base class of the generated API methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

HELD_MS = 60_000
"""Milliseconds for which the service delays a response if the request specifies no time
(protocol-waits).
"""


class Calling(ABC):
    """Base class of objects that send API requests."""

    @abstractmethod
    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return the payload of the response.

        @param path: path after C{/api/v1}. The first slash may be left out.
        @param query: query parameters. C{None} values are left out; lists are joined with commas.
        @param wait_ms: milliseconds for which the service may delay its response.
        @raise ApiError: the status is not a success.
        @raise Lost: no response arrived.
        """


def get_hold_milliseconds(asked: int | None) -> int:
    """Return the milliseconds for which the service may delay its response.

    @param asked: milliseconds that the request specifies; C{None} means the default.
    """
    return HELD_MS if asked is None else asked


def quote_segment(word: str) -> str:
    """Return C{word} percent-encoded as one segment of a path."""
    return quote(word, safe="")
