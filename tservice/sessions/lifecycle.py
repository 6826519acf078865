"""State machine of a session's process.

The machine performs no action. Callers ask it for permission, act, and report the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from automat import TypeMachineBuilder

from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.sessions.record.model import ProcessPhase


class LifecycleInputs(Protocol):
    """Inputs of the state machine of a session's process."""

    def begin_start(self) -> None:
        """Request a start.

        @raise ServiceError: 409 SESSION_BUSY: the process runs or is being started; 409 CONFLICT:
            the breaker tripped; 422: it is not known if the process runs.
        """

    def clear_breaker(self) -> None:
        """Reset the exit breaker so that the session can be started again."""

    def mark_running(self) -> None:
        """Record that the process was started or adopted and runs."""

    def mark_start_failed(self) -> None:
        """Record that the start failed and no process runs."""

    def mark_exited(self) -> None:
        """Record that the process ended, or was found to be gone."""

    def trip_breaker(self) -> None:
        """Record that the process failed too often in too short a time."""

    def detach_process(self) -> None:
        """Record that the process continues without the service."""

    def mark_stopped(self) -> None:
        """Record that the service ended the process. The record is kept."""


@dataclass
class _LifecycleData:
    phase: ProcessPhase = ProcessPhase.CREATED


_Output = Callable[[LifecycleInputs, _LifecycleData], None]

_builder = TypeMachineBuilder(LifecycleInputs, _LifecycleData)
_state = {phase: _builder.state(phase.value) for phase in ProcessPhase}


def _make_phase_output(phase: ProcessPhase) -> _Output:
    def set_phase(lifecycle: LifecycleInputs, core: _LifecycleData) -> None:
        core.phase = phase

    return set_phase


def _make_refusal_output(error: Callable[[], ServiceError]) -> _Output:
    def raise_refusal(lifecycle: LifecycleInputs, core: _LifecycleData) -> None:
        raise error()

    return raise_refusal


def _busy_error() -> ServiceError:
    return ServiceError(ErrorCode.SESSION_BUSY, "the session is already running")


def _breaker_error() -> ServiceError:
    return make_conflict_error("the session failed too often; start it with clearBreaker: true")


def _unknown_state_error() -> ServiceError:
    return make_failure_error(
        "the session's terminal does not answer; whether it runs is not known"
    )


_AT_REST = (ProcessPhase.CREATED, ProcessPhase.EXITED, ProcessPhase.DETACHED, ProcessPhase.STOPPED)
_ALIVE = (ProcessPhase.STARTING, ProcessPhase.RUNNING, ProcessPhase.UNKNOWN)
_Move = Callable[..., None]

_MOVES: list[tuple[tuple[ProcessPhase, ...], _Move, ProcessPhase]] = [
    (_AT_REST, LifecycleInputs.begin_start, ProcessPhase.STARTING),
    (
        (ProcessPhase.STARTING, ProcessPhase.UNKNOWN),
        LifecycleInputs.mark_running,
        ProcessPhase.RUNNING,
    ),
    ((ProcessPhase.STARTING,), LifecycleInputs.mark_start_failed, ProcessPhase.EXITED),
    (_ALIVE, LifecycleInputs.mark_exited, ProcessPhase.EXITED),
    (_ALIVE, LifecycleInputs.trip_breaker, ProcessPhase.ERROR),
    ((ProcessPhase.RUNNING,), LifecycleInputs.detach_process, ProcessPhase.DETACHED),
    ((*_AT_REST, *_ALIVE, ProcessPhase.ERROR), LifecycleInputs.mark_stopped, ProcessPhase.STOPPED),
    ((ProcessPhase.ERROR,), LifecycleInputs.clear_breaker, ProcessPhase.EXITED),
]
_REFUSALS: list[tuple[ProcessPhase, Callable[[], ServiceError]]] = [
    (ProcessPhase.STARTING, _busy_error),
    (ProcessPhase.RUNNING, _busy_error),
    (ProcessPhase.UNKNOWN, _unknown_state_error),
    (ProcessPhase.ERROR, _breaker_error),
]


def _add_transitions() -> None:
    for phases, move, target in _MOVES:
        for phase in phases:
            _state[phase].upon(move).to(_state[target])(_make_phase_output(target))
    for phase, error in _REFUSALS:
        _state[phase].upon(LifecycleInputs.begin_start).loop()(_make_refusal_output(error))
    for phase in (*_AT_REST, *_ALIVE):
        _state[phase].upon(LifecycleInputs.clear_breaker).loop().returns(None)


_add_transitions()
_machine = _builder.build()


class SessionLifecycle:
    """Lifecycle of one session's process. The initial phase is given by the caller.

    @ivar move: the inputs of the state machine. An input that the phase does not allow raises
        C{automat.NoTransition}.
    """

    def __init__(self, phase: ProcessPhase = ProcessPhase.CREATED) -> None:
        self._core = _LifecycleData(phase)
        self.move: LifecycleInputs = _machine(self._core, _state[phase])

    @property
    def phase(self) -> ProcessPhase:
        """Current phase of the process."""
        return self._core.phase


def initial_phase(phase: ProcessPhase) -> ProcessPhase:
    """Return the initial phase for a record that was just read from disk.

    A process that ran may or may not still run. Its phase is unknown until its server was queried.
    """
    return ProcessPhase.UNKNOWN if phase in _ALIVE else phase
