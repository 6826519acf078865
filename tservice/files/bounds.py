"""How much may be done with a session's files in a minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from tservice.core.errors import ErrorCode, ServiceError

WINDOW = 60.0


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
