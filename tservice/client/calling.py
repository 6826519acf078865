"""What the generated methods stand on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

HELD_MS = 60_000
"""How long the service holds an answer where nobody says (protocol-waits)."""


class Calling(ABC):
    """Something that sends requests."""

    @abstractmethod
    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """The payload of one request.

        @param path: from C{/api/v1} on; the first slash may be left out.
        @param query: what is C{None} is left out; lists are sent with commas.
        @param wait_ms: how long the service was asked to hold its answer.
        @raise ApiError: anything but a success.
        @raise Lost: no answer.
        """


def held_ms(asked: int | None) -> int:
    """How long the service holds an answer for which C{asked} milliseconds were asked."""
    return HELD_MS if asked is None else asked


def quoted(word: str) -> str:
    """One step of a path."""
    return quote(word, safe="")
