"""Quotas of file operations: per session and minute, and per account and day."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error

WINDOW = 60.0
DAY = 24 * 3600.0

Read = Callable[[], Awaitable[bytes]]
"""Function that reads the next bytes of a request body. It returns an empty string at the end."""


@define
class _MinuteUsage:
    under_way: int = 0
    done: deque[float] = field(factory=deque)


class MinuteRateLimit:
    """Maximum number of operations of one session per minute. Failed operations do not count."""

    def __init__(self, clock: IReactorTime, most: int, what: str) -> None:
        """Create a limit.

        @param most: maximum number of operations of a session per minute.
        @param what: name of the operations in the error text.
        """
        self._clock, self._most, self._what = clock, most, what
        self._known: dict[str, _MinuteUsage] = {}

    @contextmanager
    def count_operation(self, session_id: str) -> Iterator[None]:
        """Count the operation that the block performs. It does not count if the block fails.

        @raise ServiceError: 429 if the session has reached the limit of this minute.
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
    """Quota of bytes that an account may upload and save per UTC day. A restart of the service
    resets it.
    """

    def __init__(self, clock: IReactorTime, most: int) -> None:
        self._clock, self._most = clock, most
        self._day = 0
        self._used: dict[str, int] = {}

    @contextmanager
    def count_bytes(self, account: str, read: Read) -> Iterator[Read]:
        """Yield a function that reads like C{read} and counts the bytes against the account's
        quota.

        The bytes are refunded if the block fails.

        @raise ServiceError: 422, raised while reading, if the quota of the day is used up.
        """
        taken: dict[int, int] = {}

        async def read_counted() -> bytes:
            data = await read()
            self._reset_on_new_day()
            used = self._used.get(account, 0) + len(data)
            if used > self._most:
                # After a 429 clients would retry within a second.
                raise make_failure_error(
                    f"your account may upload and save {self._most} bytes a day, which are used up;"
                    " try again after midnight UTC"
                )
            self._used[account] = used
            taken[self._day] = taken.get(self._day, 0) + len(data)
            return data

        try:
            yield read_counted
        except BaseException:
            self._reset_on_new_day()
            if account in self._used:
                self._used[account] -= taken.get(self._day, 0)
            raise

    def _reset_on_new_day(self) -> None:
        day = int(self._clock.seconds() // DAY)
        if day != self._day:
            self._day = day
            self._used.clear()
