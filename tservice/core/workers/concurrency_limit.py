"""Limit on the concurrent operations of one owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tservice.core.kernel.errors import ErrorCode, ServiceError


class ConcurrencyLimit:
    """Counter of concurrent operations by owner."""

    def __init__(self, most: int, refusal: str) -> None:
        """@param most: the maximum number of concurrent operations of one owner.
        @param refusal: the error text for an owner who exceeds C{most}.
        """
        self._most, self._refusal = most, refusal
        self._begun: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Number of operations of all owners."""
        return self._begun.total()

    @contextmanager
    def hold_slot(self, owner: str) -> Iterator[None]:
        """Count one operation of C{owner} for the duration of the block.

        @raise ServiceError: 429: the limit is reached.
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
