"""Wait service: checks a wait against its session and makes the answer (protocol-waits)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import sleep
from tservice.core.errors import ServiceError, invalid_field
from tservice.core.event_payloads import SessionPayload
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.sessions.interfaces import Delivery, ISessions
from tservice.sessions.record.model import Session, Status
from tservice.sessions.waits.output import OutputOutcome, OutputWaits, search_buffer
from tservice.sessions.waits.signals import (
    DEFAULT_UNTIL,
    TURN_SIGNALS,
    ParkedWait,
    Signal,
    WaitOutcome,
    Waits,
    WaitSlots,
    clamp_timeout,
    first_of,
)
from tservice.terminal.stream_matcher import SearchNeedle

FLEET_MAX = 100
"""Maximum sessions of one fleet wait."""

_EVENTS = {f"session:{signal}": signal for signal in Signal}


@frozen(kw_only=True)
class WaitRequest:
    """Request for a wait.

    @ivar until: C{None} for the default set, which is smaller for a mode without hooks.
    @ivar timeout_ms: positive; clamped here.
    """

    until: tuple[Signal, ...] | None = None
    timeout_ms: int
    fresh: bool = False


class Waiting:
    """Waits for signals and for output on sessions that the caller may see.

    @param blocked: returns whether an approval of that session is pending.
    @param gives_signals: returns whether sessions of a mode give C{stop} and C{blocked}.
    """

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        slots: WaitSlots,
        outputs: OutputWaits,
        hub: EventHub,
        blocked: Callable[[str], bool],
        gives_signals: Callable[[str], bool],
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._waits = Waits(clock, slots)
        self._outputs = outputs
        self._blocked = blocked
        self._gives_signals = gives_signals
        self.stop = hub.subscribe(self._heard)

    async def wait(self, session_id: str, request: WaitRequest, caller: Identity) -> dict[str, Any]:
        """Hold the call until a signal (protocol-waits)."""
        session = self._sessions.get(session_id, caller)
        until = self._until(session.mode, request.until)
        held = self._held(session, request)
        signal = first_of(held, frozenset(until))
        if signal is not None:
            outcome = _at_once({session_id: signal})
        else:
            parked = self._waits.park(
                {session_id: None},
                frozenset(until),
                clamp_timeout(request.timeout_ms),
                caller.username,
            )
            outcome = await self._settled(parked)
        return self._answer(session_id, until, request.timeout_ms, outcome)

    async def fleet(
        self, ids: Sequence[str], request: WaitRequest, caller: Identity, *, need_all: bool
    ) -> dict[str, Any]:
        """Hold the call until any or all of several sessions signal (protocol-fleet)."""
        until = request.until or DEFAULT_UNTIL
        sessions = [self._sessions.get(session_id, caller) for session_id in dict.fromkeys(ids)]
        if request.until is not None:
            for session in sessions:
                self._until(session.mode, request.until)
        held = {
            session.id: first_of(self._held(session, request), frozenset(until))
            for session in sessions
        }
        fired = [signal is not None for signal in held.values()]
        if all(fired) if need_all else any(fired):
            outcome = _at_once(held)
        else:
            parked = self._waits.park(
                held,
                frozenset(until),
                clamp_timeout(request.timeout_ms),
                caller.username,
                need_all=need_all,
            )
            outcome = await self._settled(parked)
        return {
            "signals": outcome.signals,
            "wait": _wait(until, request.timeout_ms, outcome.timed_out, ended=outcome.ended),
            "waitedMs": outcome.waited_ms,
            "immediate": outcome.immediate,
        }

    async def input_and_wait(
        self,
        session_id: str,
        request: WaitRequest,
        caller: Identity,
        deliver: Callable[[Callable[[], None]], Awaitable[Delivery]],
    ) -> dict[str, Any]:
        """Type an input, then hold the call until a signal. The wait is registered before the
        typing.

        @param deliver: types; calls its argument just before the key that submits. Every signal
            after that call belongs to the new turn.
        """
        session = self._sessions.get(session_id, caller)
        until = self._until(session.mode, request.until, "wait")
        parked = self._waits.park(
            {session_id: None},
            frozenset(until),
            clamp_timeout(request.timeout_ms),
            caller.username,
            armed=False,
        )
        try:
            delivery = await deliver(parked.arm)
        except BaseException:
            parked.abandon()
            raise
        if delivery.duplicate:
            parked.abandon()
            outcome = self._state_now(session_id, until)
        else:
            parked.arm()
            outcome = await self._settled(parked)
        answer = self._answer(session_id, until, request.timeout_ms, outcome)
        told = {
            "delivered": delivery.delivered,
            "duplicate": delivery.duplicate,
            "putAside": delivery.put_aside,
        }
        return answer | told | opened(delivery)

    async def wait_output(
        self,
        session_id: str,
        needle: SearchNeedle,
        caller: Identity,
        *,
        timeout_ms: int,
        from_buffer: bool,
    ) -> dict[str, Any]:
        """Hold the call until C{needle} is printed."""
        self._sessions.get(session_id, caller)
        pane = self._sessions.pane_of(session_id)
        if pane is None:
            outcome = OutputOutcome(match=None, waited_ms=0, immediate=True, ended=True)
        else:
            match = await search_buffer(pane, needle) if from_buffer else None
            if match is not None or pane.ending is not None:
                outcome = OutputOutcome(
                    match=match, waited_ms=0, immediate=True, ended=match is None
                )
            else:
                timeout = clamp_timeout(timeout_ms)
                outcome = await self._outputs.park(
                    pane, needle, timeout, caller.username, searched=from_buffer
                ).done
        return self._output_answer(session_id, timeout_ms, outcome)

    async def _settled(self, wait: ParkedWait) -> WaitOutcome:
        """Return the outcome one reactor turn later, when the effects of the signal are
        complete.
        """
        outcome = await wait.done
        await sleep(self._clock, 0)
        return outcome

    def parked(self) -> int:
        """Return the number of parked waits for signals and output."""
        return self._waits.parked()

    def _until(
        self, mode: str, asked: tuple[Signal, ...] | None, field: str = "until"
    ) -> tuple[Signal, ...]:
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
                raise invalid_field(field, f"{signal} is not given by sessions of mode {mode}")
        return asked

    def _held(self, session: Session, request: WaitRequest) -> list[Signal]:
        """Return the signals that hold already; with C{fresh} only the one that never changes
        back.
        """
        if session.pid is None:
            return [Signal.EXIT]
        if request.fresh:
            return []
        held = [Signal.WORKING if session.status is Status.BUSY else Signal.IDLE]
        return [Signal.BLOCKED, *held] if self._blocked(session.id) else held

    def _state_now(self, session_id: str, until: tuple[Signal, ...]) -> WaitOutcome:
        """Return the outcome of a duplicate input from the current state
        (protocol-exactly-once).

        A turn that is over has given its C{stop}, perhaps while this service was not running. An
        unknown turn has given no signal.
        """
        session = self._sessions.get(session_id)
        held = self._held(session, WaitRequest(timeout_ms=0))
        rests = Signal.IDLE in held
        if rests and session.turn_open:
            held.remove(Signal.IDLE)
        signal = first_of(held, frozenset(until))
        if signal is None and rests and not session.turn_open and Signal.STOP in until:
            signal = Signal.STOP
        if signal is not None:
            return _at_once({session_id: signal})
        return WaitOutcome(signals={session_id: None}, timed_out=True, waited_ms=0)

    def _answer(
        self, session_id: str, until: tuple[Signal, ...], timeout_ms: int, outcome: WaitOutcome
    ) -> dict[str, Any]:
        wait = _wait(until, timeout_ms, outcome.timed_out, ended=outcome.ended)
        return {
            "wait": wait | {"signal": outcome.signal},
            "waitedMs": outcome.waited_ms,
            "immediate": outcome.immediate,
            **self._alongside(session_id),
        }

    def _output_answer(
        self, session_id: str, timeout_ms: int, outcome: OutputOutcome
    ) -> dict[str, Any]:
        match = outcome.match
        wait = _wait((), timeout_ms, match is None, ended=outcome.ended)
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
            **self._alongside(session_id),
        }

    def _alongside(self, session_id: str) -> dict[str, Any]:
        """Return the session's status for the answer; a deleted session is stopped."""
        try:
            session = self._sessions.get(session_id)
        except ServiceError:
            return {"status": Status.STOPPED, "limitPaused": False}
        return {"status": session.status, "limitPaused": session.limit_paused}

    def _heard(self, event: Event) -> None:
        if event.session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._waits.session_deleted(event.session_id)
            self._outputs.session_gone(event.session_id)
        elif isinstance(event.payload, SessionPayload) and event.payload.detached:
            # A detached session has no process, but no exit event reports that.
            self._waits.signal(event.session_id, Signal.EXIT)
            self._outputs.session_gone(event.session_id)
        elif event.name in _EVENTS:
            self._waits.signal(event.session_id, _EVENTS[event.name])


def _at_once(signals: dict[str, Signal | None] | dict[str, Signal]) -> WaitOutcome:
    return WaitOutcome(signals=dict(signals), timed_out=False, waited_ms=0, immediate=True)


def _wait(
    until: tuple[Signal, ...], timeout_ms: int, timed_out: bool, *, ended: bool
) -> dict[str, Any]:
    return {
        "timedOut": timed_out,
        "timeoutMs": clamp_timeout(timeout_ms),
        "until": list(until),
        "ended": ended,
    }


def opened(delivery: Delivery) -> dict[str, str]:
    """Return the answer field for a picker that a prompt opened (protocol-prompts)."""
    return {} if delivery.opened is None else {"opened": delivery.opened}
