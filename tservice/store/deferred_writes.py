"""Writes that are deferred while the disk refuses them, and the state of the disk."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.disk.disk_errors import DiskFull

Key = tuple[Hashable, ...]
Params = Sequence[Any] | Mapping[str, Any]
WriteStatements = Callable[[Sequence[tuple[str, Params]]], None]
"""Callable that executes statements in one transaction."""

MOST = 20_000
"""Maximum number of deferred statements; a further one is refused."""

AGAIN_SECONDS = 2.0
"""Seconds between two attempts to write, while the disk refuses writes."""

QUIET_SECONDS = 60.0
"""Minimum seconds between two log entries about the disk.

A disk that is almost full accepts small writes, and would change its state often.
"""

PROBE = "PRAGMA user_version = 0"
"""Statement that writes a page to the database, but changes no data."""


@frozen(kw_only=True)
class DiskTrouble:
    """Current problem of the disk.

    @ivar since: time when the problem began, in Unix seconds.
    """

    reason: str
    since: float


class DeferredWrites:
    """Deferred statements, at most one for each key, ordered by their last change.

    Without a clock (before L{use_clock}, and in tests) every statement tries the disk.
    """

    _log = Logger()

    def __init__(self, pay: WriteStatements) -> None:
        self._pay = pay
        self._owed: dict[Key, tuple[str, Params]] = {}
        self._clock: IReactorTime | None = None
        self._timer: IDelayedCall | None = None
        self._telling: IDelayedCall | None = None
        self._paying = False
        self._recovered: list[Callable[[], object]] = []
        self._said_at: float | None = None
        self.disk_trouble: DiskTrouble | None = None
        self.refusals = 0

    def __len__(self) -> int:
        return len(self._owed)

    def __contains__(self, key: Key) -> bool:
        return key in self._owed

    def use_clock(self, clock: IReactorTime) -> None:
        """Use the clock for retries from now on, so that writing continues once the disk has
        room.
        """
        self._clock = clock

    def add_recovery_callback(self, call: Callable[[], object]) -> Callable[[], None]:
        """Call C{call} each time the disk accepts writes again.

        The call is made after the write that succeeded has returned, because that writer's state is
        incomplete until then.

        @return: a function that removes the callback.
        """
        self._recovered.append(call)
        return lambda: self._recovered.remove(call)

    def close(self) -> None:
        """Try once more to write the deferred statements; log it if some are lost."""
        self._stop_timer()
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        self._clock = None
        try:
            self.write_deferred()
        except DiskFull:
            self._log.error("{count} changes were never written", count=len(self._owed))
            self._owed.clear()

    @property
    def _get_unix_time(self) -> float:
        return 0.0 if self._clock is None else self._clock.seconds()

    @property
    def disk_problem(self) -> str:
        """Description of the disk's problem."""
        return "the disk refuses writes" if self.disk_trouble is None else self.disk_trouble.reason

    @property
    def should_try_now(self) -> bool:
        """True if a write that can be deferred should try the disk now.

        False while the disk refuses writes, because the timer tries again.
        """
        return self._timer is None

    def defer_statement(self, key: Key, sql: str, params: Params) -> None:
        """Defer a statement until the disk accepts it.

        @param key: identifies the object that the statement writes; see L{Database.execute_or_defer
            <tservice.store.database.Database.execute_or_defer>}.
        @raise DiskFull: L{MOST} statements are deferred already.
        """
        if key not in self._owed and len(self._owed) >= MOST:
            raise DiskFull(self.disk_problem)
        self._owed.pop(key, None)
        self._owed[key] = (sql, params)

    def check_not_deferred(self, key: Key) -> None:
        """Check that no statement with C{key} is deferred.

        @raise DiskFull: such a statement is deferred.
        """
        if key in self._owed:
            raise DiskFull(self.disk_problem)

    def write_deferred(self) -> None:
        """Write the deferred statements in one transaction.

        @raise DiskFull: the disk refuses the write; all statements stay deferred.
        """
        if not self._owed or self._paying:
            return
        self._paying = True
        try:
            self._pay(list(self._owed.values()))
        finally:
            self._paying = False
        self._owed.clear()

    def record_refusal(self, reason: str, error: BaseException) -> None:
        """Record that the disk refused a write, and try again later.

        @param reason: description of the disk's problem.
        """
        self.refusals += 1
        if self.disk_trouble is None or self.disk_trouble.reason != reason:
            now = self._get_unix_time
            self.disk_trouble = DiskTrouble(reason=reason, since=now)
            if self._said_at is None or now - self._said_at >= QUIET_SECONDS:
                self._said_at = now
                self._log.error(
                    "{reason}: changes are refused until that is fixed ({error})",
                    reason=reason,
                    error=str(error),
                    event="disk-trouble",
                )
        self._set_timer()

    def record_success(self) -> None:
        """Record that the disk accepted a write."""
        if self.disk_trouble is None or self._paying:
            return
        if self._said_at == self.disk_trouble.since:
            self._log.info("the disk takes writes again", event="disk-recovered")
        self.disk_trouble = None
        self._stop_timer()
        if self._clock is None:
            self._call_recovery_callbacks()
        elif self._telling is None:
            self._telling = self._clock.callLater(0, self._call_recovery_callbacks)

    def _call_recovery_callbacks(self) -> None:
        self._telling = None
        for call in tuple(self._recovered):
            try:
                call()
            except Exception:
                self._log.failure("a callback after the disk's recovery failed")

    def _set_timer(self) -> None:
        if self._clock is not None and self._timer is None:
            self._timer = self._clock.callLater(AGAIN_SECONDS, self._retry_write)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _retry_write(self) -> None:
        self._timer = None
        try:
            self.probe_disk()
        except DiskFull:
            # Logged already; C{record_refusal} has set the timer.
            self._set_timer()

    def probe_disk(self) -> None:
        """Check that the disk accepts writes, by writing one page.

        @raise DiskFull: the disk refuses the write.
        """
        self.write_deferred()
        self._pay([(PROBE, ())])
