"""How much of a session's files may be under way at once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from tservice.core.errors import ErrorCode, ServiceError

WINDOW = 60.0


class UnderWay:
    """Things under way, by session."""

    def __init__(self, most: int, what: str) -> None:
        """@param what: what they are called in a refusal."""
        self._most, self._what = most, what
        self._begun: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """All of them."""
        return self._begun.total()

    @contextmanager
    def take(self, session_id: str) -> Iterator[None]:
        """One of them, for the block.

        @raise ServiceError: 429: there are as many as there may be.
        """
        if self._begun[session_id] >= self._most:
            text = f"the session has {self._most} {self._what} already; try again"
            raise ServiceError(ErrorCode.RATE_LIMITED, text)
        self._begun[session_id] += 1
        try:
            yield
        finally:
            self._begun[session_id] -= 1
            if not self._begun[session_id]:
                del self._begun[session_id]


@define
class _Minute:
    under_way: int = 0
    done: deque[float] = field(factory=deque)


class Rate:
    """So many things a minute, by session; what fails does not count."""

    def __init__(self, clock: IReactorTime, most: int, what: str) -> None:
        """@param what: what they are called in a refusal."""
        self._clock, self._most, self._what = clock, most, what
        self._known: dict[str, _Minute] = {}

    @contextmanager
    def take(self, session_id: str) -> Iterator[None]:
        """One of them: the block does it.

        @raise ServiceError: 429: there were as many in this minute.
        """
        self._forget()
        minute = self._known.setdefault(session_id, _Minute())
        if minute.under_way + len(minute.done) >= self._most:
            text = f"at most {self._most} {self._what} a minute in a session"
            raise ServiceError(ErrorCode.RATE_LIMITED, text)
        minute.under_way += 1
        try:
            yield
            minute.done.append(self._clock.seconds())
        finally:
            minute.under_way -= 1

    def _forget(self) -> None:
        since = self._clock.seconds() - WINDOW
        for session_id, minute in tuple(self._known.items()):
            while minute.done and minute.done[0] <= since:
                minute.done.popleft()
            if not (minute.done or minute.under_way):
                del self._known[session_id]
