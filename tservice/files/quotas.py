"""Quotas of file operations: per minute and session, per day and account."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from tservice.core.errors import ErrorCode, ServiceError, operation_failed

WINDOW = 60.0
DAY = 24 * 3600.0

Read = Callable[[], Awaitable[bytes]]
"""Reader of the next bytes of a body; it returns nothing at the end."""


@define
class _MinuteUsage:
    under_way: int = 0
    done: deque[float] = field(factory=deque)


class MinuteRateLimit:
    """Limit of operations per minute and session; failures do not count."""

    def __init__(self, clock: IReactorTime, most: int, what: str) -> None:
        """Create a limit.

        @param what: name of the operations in an error.
        """
        self._clock, self._most, self._what = clock, most, what
        self._known: dict[str, _MinuteUsage] = {}

    @contextmanager
    def count_operation(self, session_id: str) -> Iterator[None]:
        """Count one operation, which the block performs.

        @raise ServiceError: 429: the limit of this minute is reached.
        """
        self._drop_expired()
        minute = self._known.setdefault(session_id, _MinuteUsage())
        if minute.under_way + len(minute.done) >= self._most:
            text = f"at most {self._most} {self._what} a minute in a session; try again later"
            raise ServiceError(ErrorCode.RATE_LIMITED, text)
        minute.under_way += 1
        try:
            yield
            minute.done.append(self._clock.seconds())
        finally:
            minute.under_way -= 1

    def _drop_expired(self) -> None:
        since = self._clock.seconds() - WINDOW
        for session_id, minute in tuple(self._known.items()):
            while minute.done and minute.done[0] <= since:
                minute.done.popleft()
            if not (minute.done or minute.under_way):
                del self._known[session_id]


class DailyUploadQuota:
    """Quota of bytes that an account may upload and save per UTC day, kept in memory."""

    def __init__(self, clock: IReactorTime, most: int) -> None:
        self._clock, self._most = clock, most
        self._day = 0
        self._used: dict[str, int] = {}

    @contextmanager
    def count_bytes(self, account: str, read: Read) -> Iterator[Read]:
        """Count the bytes that C{read} returns in the block; a failing block refunds them.

        @raise ServiceError: 422, raised while reading: the quota of the day is used up.
        """
        taken: dict[int, int] = {}

        async def read_counted() -> bytes:
            data = await read()
            self._reset_daily()
            used = self._used.get(account, 0) + len(data)
            if used > self._most:
                # After a 429 clients would retry within a second.
                raise operation_failed(
                    f"your account may upload and save {self._most} bytes a day, which are used up;"
                    " try again after midnight UTC"
                )
            self._used[account] = used
            taken[self._day] = taken.get(self._day, 0) + len(data)
            return data

        try:
            yield read_counted
        except BaseException:
            self._reset_daily()
            if account in self._used:
                self._used[account] -= taken.get(self._day, 0)
            raise

    def _reset_daily(self) -> None:
        day = int(self._clock.seconds() // DAY)
        if day != self._day:
            self._day = day
            self._used.clear()
