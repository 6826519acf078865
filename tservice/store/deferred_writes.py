"""Writes deferred while the disk refuses them, and the disk's state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.disk_errors import DiskFull

Key = tuple[Hashable, ...]
Params = Sequence[Any] | Mapping[str, Any]
WriteStatements = Callable[[Sequence[tuple[str, Params]]], None]
"""Writes statements, all or none."""

MOST = 20_000
"""Maximum number of deferred statements; one more is refused."""

AGAIN_SECONDS = 2.0
"""Seconds between attempts while the disk refuses writes."""

QUIET_SECONDS = 60.0
"""Minimum seconds between two log entries, for a disk that takes only small writes."""

PROBE = "PRAGMA user_version = 0"
"""Statement that writes a page and changes no data."""


@frozen(kw_only=True)
class DiskTrouble:
    """Problem of the disk.

    @ivar since: Unix seconds.
    """

    reason: str
    since: float


class DeferredWrites:
    """Deferred statements in the order of their keys' last change, one a key.

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
        """Retry by the clock from now on, so that writing continues when there is room."""
        self._clock = clock

    def on_recovery(self, call: Callable[[], object]) -> None:
        """Call C{call} each time the disk takes writes again.

        The call comes after the write that showed it, because that writer's state is incomplete.
        """
        self._recovered.append(call)

    def close(self) -> None:
        """Try once more, then never again: remaining statements are lost, and the log says so."""
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
    def _now(self) -> float:
        return 0.0 if self._clock is None else self._clock.seconds()

    @property
    def reason(self) -> str:
        """The problem of the disk in words."""
        return "the disk refuses writes" if self.disk_trouble is None else self.disk_trouble.reason

    @property
    def should_try_now(self) -> bool:
        """True if a deferrable write should try the disk now instead of waiting for the timer."""
        return self._timer is None

    def defer_statement(self, key: Key, sql: str, params: Params) -> None:
        """Defer a statement until the disk takes it.

        @raise DiskFull: L{MOST} are deferred.
        """
        if key not in self._owed and len(self._owed) >= MOST:
            raise DiskFull(self.reason)
        self._owed.pop(key, None)
        self._owed[key] = (sql, params)

    def check_not_deferred(self, key: Key) -> None:
        """Check that no statement with C{key} is deferred.

        @raise DiskFull: one is.
        """
        if key in self._owed:
            raise DiskFull(self.reason)

    def write_deferred(self) -> None:
        """Write the deferred statements, all or none.

        @raise DiskFull: the disk refuses the write.
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
        """Record that the disk refused a write."""
        self.refusals += 1
        if self.disk_trouble is None or self.disk_trouble.reason != reason:
            now = self._now
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
        """Record that the disk took a write."""
        if self.disk_trouble is None or self._paying:
            return
        if self._said_at == self.disk_trouble.since:
            self._log.info("the disk takes writes again", event="disk-recovered")
        self.disk_trouble = None
        self._stop_timer()
        if self._clock is None:
            self._notify_recovery()
        elif self._telling is None:
            self._telling = self._clock.callLater(0, self._notify_recovery)

    def _notify_recovery(self) -> None:
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
        """Check whether the disk takes writes.

        @raise DiskFull: it refuses them.
        """
        self.write_deferred()
        self._pay([(PROBE, ())])
