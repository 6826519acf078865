"""What could not be written while the disk took nothing, and how the disk is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.disk import NotKept

Key = tuple[Hashable, ...]
Params = Sequence[Any] | Mapping[str, Any]
Pay = Callable[[Sequence[tuple[str, Params]]], None]
"""Writes statements, all or none."""

MOST = 20_000
"""Statements that are owed at most; one more is refused."""

AGAIN_SECONDS = 2.0
"""While the disk takes nothing, it is tried again after so long."""

QUIET_SECONDS = 60.0
"""A disk with room for small things only would be told of with each of them."""

PROBE = "PRAGMA user_version = 0"
"""Writes a page and changes nothing that anybody reads."""


@frozen(kw_only=True)
class Trouble:
    """What the matter with the disk is.

    @ivar since: Unix seconds.
    """

    reason: str
    since: float


class Debts:
    """Owed statements in the order of their keys' last change, one a key.

    Without a clock (before L{watch}, and in tests) every statement tries the disk.
    """

    _log = Logger()

    def __init__(self, pay: Pay) -> None:
        self._pay = pay
        self._owed: dict[Key, tuple[str, Params]] = {}
        self._clock: IReactorTime | None = None
        self._timer: IDelayedCall | None = None
        self._telling: IDelayedCall | None = None
        self._paying = False
        self._recovered: list[Callable[[], object]] = []
        self._said_at: float | None = None
        self.trouble: Trouble | None = None
        self.refusals = 0

    def __len__(self) -> int:
        return len(self._owed)

    def __contains__(self, key: Key) -> bool:
        return key in self._owed

    def watch(self, clock: IReactorTime) -> None:
        """Try again by the clock from now on, so that all goes on when room was made."""
        self._clock = clock

    def when_recovered(self, call: Callable[[], object]) -> None:
        """Have C{call} called each time that the disk takes writes again.

        Not while the write runs that showed it: whoever writes is not done with its own state.
        """
        self._recovered.append(call)

    def close(self) -> None:
        """Try once more, then never again: what is owed still is lost, and the log says so."""
        self._stop_timer()
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        self._clock = None
        try:
            self.pay()
        except NotKept:
            self._log.error("{count} changes were never written", count=len(self._owed))
            self._owed.clear()

    @property
    def _now(self) -> float:
        return 0.0 if self._clock is None else self._clock.seconds()

    @property
    def reason(self) -> str:
        """What is the matter with the disk."""
        return "the disk takes nothing" if self.trouble is None else self.trouble.reason

    @property
    def worth_a_try(self) -> bool:
        """Whether what can wait should ask the disk now, not only when the timer does."""
        return self._timer is None

    def owe(self, key: Key, sql: str, params: Params) -> None:
        """Write it once the disk takes it.

        @raise NotKept: L{MOST} are owed.
        """
        if key not in self._owed and len(self._owed) >= MOST:
            raise NotKept(self.reason)
        self._owed.pop(key, None)
        self._owed[key] = (sql, params)

    def check(self, key: Key) -> None:
        """Make sure that nothing of C{key} is owed.

        @raise NotKept: it is.
        """
        if key in self._owed:
            raise NotKept(self.reason)

    def pay(self) -> None:
        """Write what is owed, all or none.

        @raise NotKept: the disk does not take it.
        """
        if not self._owed or self._paying:
            return
        self._paying = True
        try:
            self._pay(list(self._owed.values()))
        finally:
            self._paying = False
        self._owed.clear()

    def refused(self, reason: str, error: BaseException) -> None:
        """The disk did not take a write."""
        self.refusals += 1
        if self.trouble is None or self.trouble.reason != reason:
            now = self._now
            self.trouble = Trouble(reason=reason, since=now)
            if self._said_at is None or now - self._said_at >= QUIET_SECONDS:
                self._said_at = now
                self._log.error(
                    "{reason}: what cannot be kept is refused until that is mended ({error})",
                    reason=reason,
                    error=str(error),
                    event="disk-trouble",
                )
        self._set_timer()

    def accepted(self) -> None:
        """The disk took a write."""
        if self.trouble is None or self._paying:
            return
        if self._said_at == self.trouble.since:
            self._log.info("the disk takes writes again", event="disk-recovered")
        self.trouble = None
        self._stop_timer()
        if self._clock is None:
            self._tell_recovered()
        elif self._telling is None:
            self._telling = self._clock.callLater(0, self._tell_recovered)

    def _tell_recovered(self) -> None:
        self._telling = None
        for call in tuple(self._recovered):
            try:
                call()
            except Exception:
                self._log.failure("what was waiting for the disk failed")

    def _set_timer(self) -> None:
        if self._clock is not None and self._timer is None:
            self._timer = self._clock.callLater(AGAIN_SECONDS, self._again)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _again(self) -> None:
        self._timer = None
        try:
            self.probe()
        except NotKept:
            # Said once already; C{refused} has set the timer anew.
            self._set_timer()

    def probe(self) -> None:
        """See whether the disk takes writes.

        @raise NotKept: it does not.
        """
        self.pay()
        self._pay([(PROBE, ())])
