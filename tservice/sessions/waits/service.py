"""Wait service: checks a wait against its session and builds the response (protocol-waits)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ServiceError, make_field_error
from tservice.core.kernel.event_payloads import ChecksPayload, SessionPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.sessions.interfaces import InputDelivery, ISessions
from tservice.sessions.record.model import Session, SessionStatus
from tservice.sessions.waits.output_waits import (
    OutputOutcome,
    ParkedOutputWaits,
    search_recent_output,
)
from tservice.sessions.waits.signal_waits import (
    DEFAULT_UNTIL,
    TURN_SIGNALS,
    ParkedSignalWaits,
    ParkedWait,
    SessionSignal,
    WaitOutcome,
    WaitSlots,
    clamp_timeout,
    find_first_signal,
)
from tservice.terminal.stream_matcher import SearchNeedle

FLEET_MAX = 100
"""Maximum sessions of one fleet wait."""

_EVENTS = {f"session:{signal}": signal for signal in SessionSignal}


@frozen(kw_only=True)
class WaitRequest:
    """Request for a wait.

    @ivar until: the signals to wait for. C{None} selects the default signals, which are fewer for a
        mode without hooks.
    @ivar timeout_ms: positive number of milliseconds, which the service clamps.
    """

    until: tuple[SessionSignal, ...] | None = None
    timeout_ms: int
    fresh: bool = False


class WaitService:
    """Service for waits for signals and output, on sessions that the caller may see.

    @param blocked: returns true if an approval of that session is pending.
    @param checked: returns true if the checks of that session have a result that still holds.
    @param gives_signals: returns true if sessions of a mode give C{stop} and C{blocked}.
    """

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        slots: WaitSlots,
        outputs: ParkedOutputWaits,
        hub: EventHub,
        blocked: Callable[[str], bool],
        gives_signals: Callable[[str], bool],
        checked: Callable[[str], bool] = lambda session_id: False,
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._waits = ParkedSignalWaits(clock, slots)
        self._outputs = outputs
        self._blocked = blocked
        self._gives_signals, self._checked = gives_signals, checked
        self.stop = hub.subscribe(self._handle_event)

    async def wait_for_signal(
        self, session_id: str, request: WaitRequest, caller: Identity
    ) -> dict[str, Any]:
        """Hold the call until the session gives a requested signal (protocol-waits)."""
        session = self._sessions.get(session_id, caller)
        until = self._find_valid_signals(session.mode, request.until)
        held = self._find_current_signals(session, request)
        signal = find_first_signal(held, frozenset(until))
        if signal is not None:
            outcome = _immediate_outcome({session_id: signal})
        else:
            parked = self._waits.hold_call_until_signal(
                {session_id: None},
                frozenset(until),
                clamp_timeout(request.timeout_ms),
                caller.username,
            )
            outcome = await self._await_outcome(parked)
        return self._make_wait_response(session_id, until, request.timeout_ms, outcome)

    async def wait_for_sessions(
        self, ids: Sequence[str], request: WaitRequest, caller: Identity, *, need_all: bool
    ) -> dict[str, Any]:
        """Hold the call until one or each of several sessions gives a signal (protocol-fleet).

        @param need_all: true to wait for a signal of each session.
        """
        until = request.until or DEFAULT_UNTIL
        sessions = [self._sessions.get(session_id, caller) for session_id in dict.fromkeys(ids)]
        if request.until is not None:
            for session in sessions:
                self._find_valid_signals(session.mode, request.until)
        held = {
            session.id: find_first_signal(
                self._find_current_signals(session, request), frozenset(until)
            )
            for session in sessions
        }
        fired = [signal is not None for signal in held.values()]
        if all(fired) if need_all else any(fired):
            outcome = _immediate_outcome(held)
        else:
            parked = self._waits.hold_call_until_signal(
                held,
                frozenset(until),
                clamp_timeout(request.timeout_ms),
                caller.username,
                need_all=need_all,
            )
            outcome = await self._await_outcome(parked)
        return {
            "signals": outcome.signals,
            "wait": _wait_fields(until, request.timeout_ms, outcome.timed_out, ended=outcome.ended),
            "waitedMs": outcome.waited_ms,
            "immediate": outcome.immediate,
        }

    async def input_and_wait(
        self,
        session_id: str,
        request: WaitRequest,
        caller: Identity,
        deliver: Callable[[Callable[[], None]], Awaitable[InputDelivery]],
    ) -> dict[str, Any]:
        """Type an input, then hold the call until a signal.

        The wait is registered before the input is typed.

        @param deliver: types the input. It calls its argument just before the key that submits.
            Every signal after that call belongs to the new turn.
        """
        session = self._sessions.get(session_id, caller)
        until = self._find_valid_signals(session.mode, request.until, "wait")
        parked = self._waits.hold_call_until_signal(
            {session_id: None},
            frozenset(until),
            clamp_timeout(request.timeout_ms),
            caller.username,
            armed=False,
        )
        try:
            delivery = await deliver(parked.start_counting_signals)
        except BaseException:
            parked.cancel_and_free_slot()
            raise
        if delivery.duplicate:
            parked.cancel_and_free_slot()
            outcome = self._find_duplicate_outcome(session_id, until)
        else:
            parked.start_counting_signals()
            outcome = await self._await_outcome(parked)
        answer = self._make_wait_response(session_id, until, request.timeout_ms, outcome)
        told = {
            "delivered": delivery.delivered,
            "duplicate": delivery.duplicate,
            "putAside": delivery.put_aside,
        }
        return answer | told | make_opened_field(delivery)

    async def wait_output(
        self,
        session_id: str,
        needle: SearchNeedle,
        caller: Identity,
        *,
        timeout_ms: int,
        from_buffer: bool,
    ) -> dict[str, Any]:
        """Hold the call until C{needle} is printed.

        @param from_buffer: true if output printed before the call counts too.
        """
        self._sessions.get(session_id, caller)
        pane = self._sessions.get_pane(session_id)
        if pane is None:
            outcome = OutputOutcome(match=None, waited_ms=0, immediate=True, ended=True)
        else:
            match = await search_recent_output(pane, needle) if from_buffer else None
            if match is not None or pane.ending is not None:
                outcome = OutputOutcome(
                    match=match, waited_ms=0, immediate=True, ended=match is None
                )
            else:
                timeout = clamp_timeout(timeout_ms)
                outcome = await self._outputs.hold_call_until_output(
                    pane, needle, timeout, caller.username, searched=from_buffer
                ).done
        return self._make_output_wait_response(session_id, timeout_ms, outcome)

    async def _await_outcome(self, wait: ParkedWait) -> WaitOutcome:
        """Return the outcome one reactor turn after the signal, when all effects of the signal are
        complete.
        """
        outcome = await wait.done
        await wait_seconds(self._clock, 0)
        return outcome

    def count_parked(self) -> int:
        """Return the number of parked waits for signals and output."""
        return self._waits.count_parked()

    def _find_valid_signals(
        self, mode: str, asked: tuple[SessionSignal, ...] | None, field: str = "until"
    ) -> tuple[SessionSignal, ...]:
        """Return the signals that a wait on a session of C{mode} waits for.

        @param field: the request field that named the signals.
        @raise ServiceError: 400: C{stop} or C{blocked} was requested of a mode that gives neither.
        """
        if self._gives_signals(mode):
            return asked or DEFAULT_UNTIL
        if asked is None:
            return tuple(signal for signal in DEFAULT_UNTIL if signal not in TURN_SIGNALS)
        for signal in asked:
            if signal in TURN_SIGNALS:
                raise make_field_error(field, f"{signal} is not given by sessions of mode {mode}")
        return asked

    def _find_current_signals(self, session: Session, request: WaitRequest) -> list[SessionSignal]:
        """Return the signals that the session's state gives already.

        For a C{fresh} request, only the signal that never changes back is returned.
        """
        if session.pid is None:
            return [SessionSignal.EXIT]
        if request.fresh:
            return []
        held = [
            SessionSignal.WORKING if session.status is SessionStatus.BUSY else SessionSignal.IDLE
        ]
        if self._checked(session.id):
            held = [SessionSignal.CHECKS, *held]
        return [SessionSignal.BLOCKED, *held] if self._blocked(session.id) else held

    def _find_duplicate_outcome(
        self, session_id: str, until: tuple[SessionSignal, ...]
    ) -> WaitOutcome:
        """Return the outcome of a duplicate input from the current state (protocol-exactly-once).

        A turn that is over has given its C{stop}, perhaps while this service was not running. An
        unknown turn has given no signal.
        """
        session = self._sessions.get(session_id)
        held = self._find_current_signals(session, WaitRequest(timeout_ms=0))
        rests = SessionSignal.IDLE in held
        if rests and session.turn_open:
            held.remove(SessionSignal.IDLE)
        signal = find_first_signal(held, frozenset(until))
        if signal is None and rests and not session.turn_open and SessionSignal.STOP in until:
            signal = SessionSignal.STOP
        if signal is not None:
            return _immediate_outcome({session_id: signal})
        return WaitOutcome(signals={session_id: None}, timed_out=True, waited_ms=0)

    def _make_wait_response(
        self,
        session_id: str,
        until: tuple[SessionSignal, ...],
        timeout_ms: int,
        outcome: WaitOutcome,
    ) -> dict[str, Any]:
        wait = _wait_fields(until, timeout_ms, outcome.timed_out, ended=outcome.ended)
        return {
            "wait": wait | {"signal": outcome.signal},
            "waitedMs": outcome.waited_ms,
            "immediate": outcome.immediate,
            **self._status_fields(session_id),
        }

    def _make_output_wait_response(
        self, session_id: str, timeout_ms: int, outcome: OutputOutcome
    ) -> dict[str, Any]:
        match = outcome.match
        wait = _wait_fields((), timeout_ms, match is None, ended=outcome.ended)
        return {
            "wait": wait
            | {
                "signal": None,
                "matched": match is not None,
                "match": None if match is None else match.text,
                "snippet": None if match is None else match.snippet,
            },
            "waitedMs": outcome.waited_ms,
            "immediate": outcome.immediate,
            **self._status_fields(session_id),
        }

    def _status_fields(self, session_id: str) -> dict[str, Any]:
        """Return the response fields with the session's status. A deleted session counts as
        stopped.
        """
        try:
            session = self._sessions.get(session_id)
        except ServiceError:
            return {"status": SessionStatus.STOPPED, "limitPaused": False}
        return {"status": session.status, "limitPaused": session.limit_paused}

    def _handle_event(self, event: Event) -> None:
        if event.session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._waits.end_session_waits(event.session_id)
            self._outputs.end_session_waits(event.session_id)
        elif isinstance(event.payload, SessionPayload) and event.payload.detached:
            # A detached session has no process, but no exit event reports that.
            self._waits.deliver_signal(event.session_id, SessionSignal.EXIT)
            self._outputs.end_session_waits(event.session_id)
        elif isinstance(event.payload, ChecksPayload):
            if event.name is EventName.CHECK_FINISHED and event.payload.is_final:
                self._waits.deliver_signal(event.session_id, SessionSignal.CHECKS)
        elif event.name in _EVENTS:
            self._waits.deliver_signal(event.session_id, _EVENTS[event.name])


def _immediate_outcome(
    signals: dict[str, SessionSignal | None] | dict[str, SessionSignal],
) -> WaitOutcome:
    return WaitOutcome(signals=dict(signals), timed_out=False, waited_ms=0, immediate=True)


def _wait_fields(
    until: tuple[SessionSignal, ...], timeout_ms: int, timed_out: bool, *, ended: bool
) -> dict[str, Any]:
    return {
        "timedOut": timed_out,
        "timeoutMs": clamp_timeout(timeout_ms),
        "until": list(until),
        "ended": ended,
    }


def make_opened_field(delivery: InputDelivery) -> dict[str, str]:
    """Return the response field for a picker that a prompt opened (protocol-prompts); empty for
    none.
    """
    return {} if delivery.opened is None else {"opened": delivery.opened}
