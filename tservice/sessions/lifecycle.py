"""State machine of a session's process.

The machine performs no action. Callers ask it for permission, act, and report the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from automat import TypeMachineBuilder

from tservice.core.errors import ErrorCode, ServiceError, operation_failed, state_conflict
from tservice.sessions.record.model import Phase


class Lifecycle(Protocol):
    """Inputs of the state machine of a session's process."""

    def begin(self) -> None:
        """Request a start.

        @raise ServiceError: 409 SESSION_BUSY: it runs or is being started; 409 CONFLICT: the
            breaker tripped; 422: it is not known whether it runs.
        """

    def clear_breaker(self) -> None:
        """Reset the exit breaker so that another start is allowed."""

    def began(self) -> None:
        """Record that the process runs, just started or adopted."""

    def begin_failed(self) -> None:
        """Record that the start failed and there is no process."""

    def over(self) -> None:
        """Record that the process ended, or was found to be gone."""

    def trip(self) -> None:
        """Record that it failed too often in too short a time."""

    def let_go(self) -> None:
        """Record that the process continues without the service."""

    def stop(self) -> None:
        """Record that the service ended the process and keeps the record."""


@dataclass
class _Core:
    phase: Phase = Phase.CREATED


_Output = Callable[[Lifecycle, _Core], None]

_builder = TypeMachineBuilder(Lifecycle, _Core)
_state = {phase: _builder.state(phase.value) for phase in Phase}


def _enter(phase: Phase) -> _Output:
    def output(lifecycle: Lifecycle, core: _Core) -> None:
        core.phase = phase

    return output


def _refuse(error: Callable[[], ServiceError]) -> _Output:
    def output(lifecycle: Lifecycle, core: _Core) -> None:
        raise error()

    return output


def _busy() -> ServiceError:
    return ServiceError(ErrorCode.SESSION_BUSY, "the session is already running")


def _blocked() -> ServiceError:
    return state_conflict("the session failed too often; start it with clearBreaker: true")


def _unknown() -> ServiceError:
    return operation_failed("the session's terminal does not answer; whether it runs is not known")


_AT_REST = (Phase.CREATED, Phase.EXITED, Phase.DETACHED, Phase.STOPPED)
_ALIVE = (Phase.STARTING, Phase.RUNNING, Phase.UNKNOWN)
_Move = Callable[..., None]

_MOVES: list[tuple[tuple[Phase, ...], _Move, Phase]] = [
    (_AT_REST, Lifecycle.begin, Phase.STARTING),
    ((Phase.STARTING, Phase.UNKNOWN), Lifecycle.began, Phase.RUNNING),
    ((Phase.STARTING,), Lifecycle.begin_failed, Phase.EXITED),
    (_ALIVE, Lifecycle.over, Phase.EXITED),
    (_ALIVE, Lifecycle.trip, Phase.ERROR),
    ((Phase.RUNNING,), Lifecycle.let_go, Phase.DETACHED),
    ((*_AT_REST, *_ALIVE, Phase.ERROR), Lifecycle.stop, Phase.STOPPED),
    ((Phase.ERROR,), Lifecycle.clear_breaker, Phase.EXITED),
]
_REFUSALS: list[tuple[Phase, Callable[[], ServiceError]]] = [
    (Phase.STARTING, _busy),
    (Phase.RUNNING, _busy),
    (Phase.UNKNOWN, _unknown),
    (Phase.ERROR, _blocked),
]


def _fill() -> None:
    for phases, move, target in _MOVES:
        for phase in phases:
            _state[phase].upon(move).to(_state[target])(_enter(target))
    for phase, error in _REFUSALS:
        _state[phase].upon(Lifecycle.begin).loop()(_refuse(error))
    for phase in (*_AT_REST, *_ALIVE):
        _state[phase].upon(Lifecycle.clear_breaker).loop().returns(None)


_fill()
_machine = _builder.build()


class Stage:
    """Lifecycle of one session, which can begin in any phase.

    @ivar move: the inputs; an input that the phase does not allow raises C{automat.NoTransition}.
    """

    def __init__(self, phase: Phase = Phase.CREATED) -> None:
        self._core = _Core(phase)
        self.move: Lifecycle = _machine(self._core, _state[phase])

    @property
    def phase(self) -> Phase:
        """The current phase."""
        return self._core.phase


def recalled(phase: Phase) -> Phase:
    """Return the initial phase of a record that was just read from disk.

    A process that ran may or may not still run until its server was queried.
    """
    return Phase.UNKNOWN if phase in _ALIVE else phase
