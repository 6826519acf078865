"""Parked waits: calls that are held until a session gives a signal (protocol-waits)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from attrs import field, frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.python.failure import Failure

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.timers import cancel_call

_T = TypeVar("_T")

TIMEOUT_DEFAULT = 60_000
TIMEOUT_RANGE = (1_000, 600_000)
"""Minimum and maximum of a time-out in milliseconds; other values are clamped (protocol-waits)."""


class SessionSignal(StrEnum):
    """Signals of a wait. If several apply, the first in this order wins (protocol-signals)."""

    EXIT = "exit"
    BLOCKED = "blocked"
    CHECKS = "checks"
    STOP = "stop"
    IDLE = "idle"
    WORKING = "working"


DEFAULT_UNTIL = (SessionSignal.STOP, SessionSignal.IDLE, SessionSignal.EXIT)
TURN_SIGNALS = frozenset({SessionSignal.STOP, SessionSignal.BLOCKED})
"""Signals given only by modes that report their turns reliably (protocol-signals)."""


@frozen(kw_only=True)
class WaitCaps:
    """Maximum numbers of parked waits, for signals and output together (protocol-waits)."""

    per_session: int = 16
    total: int = 128
    per_owner: int = 48


@frozen(kw_only=True)
class WaitOutcome:
    """Outcome of a wait.

    @ivar signals: the signal of each session; C{None} if the session gave none.
    @ivar ended: true if the session was deleted during the wait.
    """

    signals: Mapping[str, SessionSignal | None]
    timed_out: bool
    waited_ms: int
    immediate: bool = False
    ended: bool = False

    @property
    def signal(self) -> SessionSignal | None:
        """Signal that ended a wait on one session; C{None} if no signal was given."""
        return next((signal for signal in self.signals.values() if signal), None)


def clamp_timeout(timeout: int) -> int:
    """Clamp a time-out in milliseconds to L{TIMEOUT_RANGE}."""
    low, high = TIMEOUT_RANGE
    return max(low, min(high, timeout))


def find_first_signal(
    held: Iterable[SessionSignal], until: frozenset[SessionSignal]
) -> SessionSignal | None:
    """Return the signal in both C{held} and C{until} that has the highest precedence; C{None}
    without one.

    C{exit} ends every wait, because a session without a process gives no other signal.
    """
    wanted = (until | {SessionSignal.EXIT}).intersection(held)
    return next((signal for signal in SessionSignal if signal in wanted), None)


class WaitSlots:
    """Counter of parked waits against their caps. Every slot is returned exactly once."""

    def __init__(self, caps: WaitCaps) -> None:
        self._caps = caps
        self._sessions: Counter[str] = Counter()
        self._owners: Counter[str] = Counter()
        self.taken = 0

    def reserve_slots(self, sessions: Iterable[str], owner: str) -> Callable[[], None]:
        """Reserve one slot on each session. The returned function releases it, once.

        @raise ServiceError: SESSION_BUSY for a full session, RATE_LIMITED for the other caps.
        """
        ids = frozenset(sessions)
        for session in ids:
            if self._sessions[session] >= self._caps.per_session:
                raise ServiceError(
                    ErrorCode.SESSION_BUSY,
                    f"Session {session} has {self._caps.per_session} parked waits already",
                )
        if self.taken >= self._caps.total or self._owners[owner] >= self._caps.per_owner:
            raise ServiceError(ErrorCode.RATE_LIMITED, "Too many parked waits")
        self._count_slots(ids, owner, 1)
        held = [True]

        def release_slots() -> None:
            if held:
                held.clear()
                self._count_slots(ids, owner, -1)

        return release_slots

    def _count_slots(self, ids: frozenset[str], owner: str, step: int) -> None:
        self.taken += step
        self._owners[owner] += step
        for session in ids:
            self._sessions[session] += step
        if step < 0:
            # An empty Counter entry would stay for every id ever seen.
            self._owners += Counter()
            self._sessions += Counter()


@frozen(eq=False)
class ParkedWait:
    """Call that is held until signals are given. C{exit} ends it, even if it was not requested.

    @ivar done: fires with the L{WaitOutcome}. Cancelling it frees the slot.
    @ivar disarmed: non-empty while only C{exit} counts. A wait that comes with an input must not be
        answered by the end of the turn before that input.
    """

    until: frozenset[SessionSignal]
    need_all: bool
    started_ms: int
    give_back: Callable[[], None]
    done: Deferred[WaitOutcome]
    signals: dict[str, SessionSignal | None]
    disarmed: list[bool] = field(factory=list)

    def start_counting_signals(self) -> None:
        """From now on, let every awaited signal end the wait, not only C{exit}."""
        self.disarmed.clear()

    def cancel_and_free_slot(self) -> None:
        """Cancel the wait and free its slot immediately."""
        self.done.addErrback(_ignore_cancellation)
        self.done.cancel()

    def would_count_signal(self, signal: SessionSignal) -> bool:
        """Return true if C{signal} would be counted now."""
        return signal is SessionSignal.EXIT or (signal in self.until and not self.disarmed)

    def has_enough_signals(self) -> bool:
        """Return true if enough sessions have given their signal."""
        fired = [signal is not None for signal in self.signals.values()]
        return all(fired) if self.need_all else any(fired)


class ParkedSignalWaits:
    """Registry of parked waits for signals."""

    def __init__(self, clock: IReactorTime, slots: WaitSlots) -> None:
        self._clock = clock
        self._slots = slots
        self._parked: dict[str, dict[ParkedWait, None]] = {}

    def hold_call_until_signal(
        self,
        sessions: Mapping[str, SessionSignal | None],
        until: frozenset[SessionSignal],
        timeout_ms: int,
        owner: str,
        *,
        need_all: bool = False,
        armed: bool = True,
    ) -> ParkedWait:
        """Hold a call until its sessions give signals, C{timeout_ms} has passed, or the call is
        cancelled.

        @param sessions: the session ids, each with the signal that the session has given already,
            or C{None}. Only waits for several sessions count such signals.
        @param until: the signals to wait for.
        @param owner: the account whose limit of waits applies.
        @param need_all: true to wait for a signal of each session.
        @param armed: false to count only C{exit} until L{ParkedWait.start_counting_signals} is
            called.
        @raise ServiceError: a cap is reached; the call is not held.
        """
        give_back = self._slots.reserve_slots(sessions, owner)
        done: Deferred[WaitOutcome] = Deferred(lambda _: self._remove_wait(wait))
        wait = ParkedWait(
            until=until,
            need_all=need_all,
            started_ms=get_unix_ms(self._clock),
            give_back=give_back,
            done=done,
            signals=dict(sessions),
            disarmed=[] if armed else [True],
        )
        for session in sessions:
            self._parked.setdefault(session, {})[wait] = None
        call = self._clock.callLater(timeout_ms / 1000, self._finish_wait, wait, timed_out=True)
        done.addBoth(_cancel_timer_and_pass_result, call)
        return wait

    def deliver_signal(self, session: str, signal: SessionSignal) -> None:
        """Answer the waits for C{signal} of C{session}."""
        for wait in tuple(self._parked.get(session, ())):
            if wait.would_count_signal(signal) and wait.signals[session] is None:
                wait.signals[session] = signal
                if wait.has_enough_signals():
                    self._finish_wait(wait)

    def end_session_waits(self, session: str) -> None:
        """End all waits on a deleted session."""
        for wait in tuple(self._parked.get(session, ())):
            if wait.signals[session] is None:
                wait.signals[session] = SessionSignal.EXIT
            self._finish_wait(wait, ended=True, timed_out=not wait.has_enough_signals())

    def count_parked(self) -> int:
        """Return the number of used slots, including those of waits for output."""
        return self._slots.taken

    def _finish_wait(
        self, wait: ParkedWait, *, timed_out: bool = False, ended: bool = False
    ) -> None:
        self._remove_wait(wait)
        outcome = WaitOutcome(
            signals=wait.signals,
            timed_out=timed_out,
            waited_ms=get_unix_ms(self._clock) - wait.started_ms,
            ended=ended,
        )
        wait.done.callback(outcome)

    def _remove_wait(self, wait: ParkedWait) -> None:
        wait.give_back()
        for session in wait.signals:
            waits = self._parked.get(session, {})
            waits.pop(wait, None)
            if not waits:
                self._parked.pop(session, None)


def _ignore_cancellation(why: Failure) -> None:
    why.trap(CancelledError)


def _cancel_timer_and_pass_result(result: _T, call: IDelayedCall) -> _T:
    cancel_call(call)
    return result
