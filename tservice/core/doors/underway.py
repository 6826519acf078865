"""How much of one owner may be under way at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tservice.core.errors import ErrorCode, ServiceError


class UnderWay:
    """Things under way, by whose they are."""

    def __init__(self, most: int, refusal: str) -> None:
        """@param refusal: what is said to who asks for more than C{most}."""
        self._most, self._refusal = most, refusal
        self._begun: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """All of them."""
        return self._begun.total()

    @contextmanager
    def take(self, owner: str) -> Iterator[None]:
        """One of them, for the block.

        @raise ServiceError: 429: there are as many as there may be.
        """
        if self._begun[owner] >= self._most:
            raise ServiceError(ErrorCode.RATE_LIMITED, self._refusal)
        self._begun[owner] += 1
        try:
            yield
        finally:
            self._begun[owner] -= 1
            if not self._begun[owner]:
                del self._begun[owner]
