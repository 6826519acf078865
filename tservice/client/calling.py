"""Base of the generated API methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

HELD_MS = 60_000
"""Milliseconds that the service holds an answer when the request names no time (protocol-waits)."""


class Calling(ABC):
    """Base class of objects that send requests."""

    @abstractmethod
    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload.

        @param path: the part after C{/api/v1}; the first slash is optional.
        @param query: C{None} values are left out; lists are sent with commas.
        @param wait_ms: time that the service was asked to hold its answer.
        @raise ApiError: the status is no success.
        @raise Lost: no answer arrived.
        """


def held_ms(asked: int | None) -> int:
    """Return how many milliseconds the service holds an answer for C{asked}."""
    return HELD_MS if asked is None else asked


def quoted(word: str) -> str:
    """Return a percent-encoded path segment."""
    return quote(word, safe="")
