"""State machine of one agent's activity, and the evidence that causes its transitions
(protocol-status).

The kinds of evidence, most trusted first, are: hooks, the process, the screen, the pane's title,
and the rhythm of the output. An unknown fact is no evidence and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from automat import TypeMachineBuilder

from tservice.sessions.interfaces import ActivitySink


class AgentState(StrEnum):
    """State of an agent, as far as it is known.

    C{blocked} means that a turn waits for an answer to a dialog. The session stays busy, because
    the turn is not over.
    """

    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    BLOCKED = "blocked"
    OVER = "over"


class ActivityEvidence(Protocol):
    """Inputs of the state machine.

    The C{reason} of each input is one line for C{statusReason}.
    """

    def startup_time_over(self, reason: str) -> None:
        """Record that the time in which a new agent starts is over."""

    def turn_started(self, reason: str) -> None:
        """Record the start of a turn, as reported by the agent."""

    def turn_stopped(self, reason: str) -> None:
        """Record the end of a turn, as reported by the agent."""

    def dialog_shown(self, reason: str) -> None:
        """Record that a dialog in the turn waits for an answer."""

    def dialog_answered(self, reason: str) -> None:
        """Record an answer to the dialog, as reported by the agent."""

    def screen_shows_work(self, reason: str) -> None:
        """Record that the screen shows a running turn."""

    def screen_shows_idle(self, reason: str) -> None:
        """Record that the screen shows no running turn."""

    def unseen_turn_ended(self, reason: str) -> None:
        """Record a turn that began and ended between two captures of the screen."""

    def command_ended(self, reason: str) -> None:
        """Record the end of a command that starts no turn."""

    def process_ended(self) -> None:
        """Record that the process ended, or that the agent is no longer watched."""


@dataclass
class _MachineState:
    sink: ActivitySink
    state: AgentState


_Output = Callable[[ActivityEvidence, _MachineState, str], None]

_builder = TypeMachineBuilder(ActivityEvidence, _MachineState)
_state = {doing: _builder.state(doing.value) for doing in AgentState}


def _make_reason_report(target: AgentState) -> _Output:
    def report_reason(activity: ActivityEvidence, core: _MachineState, reason: str) -> None:
        core.state = target
        core.sink.report_evidence(reason)

    return report_reason


def _make_working_report(target: AgentState) -> _Output:
    def report_working(activity: ActivityEvidence, core: _MachineState, reason: str) -> None:
        core.state = target
        core.sink.report_working(reason)

    return report_working


def _make_idle_report(target: AgentState) -> _Output:
    def report_idle(activity: ActivityEvidence, core: _MachineState, reason: str) -> None:
        core.state = target
        core.sink.report_idle(reason)

    return report_idle


def _make_turn_report(target: AgentState) -> _Output:
    def report_turn(activity: ActivityEvidence, core: _MachineState, reason: str) -> None:
        core.state = target
        core.sink.report_working(reason)
        core.sink.report_idle(reason)

    return report_turn


AT_REST = (AgentState.STARTING, AgentState.IDLE)
_IN_TURN = (AgentState.WORKING, AgentState.BLOCKED)
_Input = Callable[[ActivityEvidence, str], None]

_MOVES: list[tuple[tuple[AgentState, ...], _Input, AgentState, Callable[[AgentState], _Output]]] = [
    (
        (AgentState.STARTING,),
        ActivityEvidence.startup_time_over,
        AgentState.IDLE,
        _make_idle_report,
    ),
    (
        (AgentState.STARTING,),
        ActivityEvidence.screen_shows_idle,
        AgentState.IDLE,
        _make_idle_report,
    ),
    ((AgentState.STARTING,), ActivityEvidence.turn_stopped, AgentState.IDLE, _make_idle_report),
    (AT_REST, ActivityEvidence.turn_started, AgentState.WORKING, _make_working_report),
    (AT_REST, ActivityEvidence.screen_shows_work, AgentState.WORKING, _make_working_report),
    (AT_REST, ActivityEvidence.dialog_shown, AgentState.BLOCKED, _make_working_report),
    (_IN_TURN, ActivityEvidence.turn_stopped, AgentState.IDLE, _make_idle_report),
    (_IN_TURN, ActivityEvidence.screen_shows_idle, AgentState.IDLE, _make_idle_report),
    (AT_REST, ActivityEvidence.unseen_turn_ended, AgentState.IDLE, _make_turn_report),
    (AT_REST, ActivityEvidence.command_ended, AgentState.IDLE, _make_idle_report),
    ((AgentState.WORKING,), ActivityEvidence.dialog_shown, AgentState.BLOCKED, _make_reason_report),
    ((AgentState.BLOCKED,), ActivityEvidence.turn_started, AgentState.WORKING, _make_reason_report),
    (
        (AgentState.BLOCKED,),
        ActivityEvidence.dialog_answered,
        AgentState.WORKING,
        _make_reason_report,
    ),
    (
        (AgentState.BLOCKED,),
        ActivityEvidence.screen_shows_work,
        AgentState.WORKING,
        _make_reason_report,
    ),
]
"""Transitions: old states, input, new state, output. Every other input keeps the state and causes
no output.

A turn that waits for an answer, or continues after one, stays busy. Only the reason changes.
"""

_INPUTS: tuple[_Input, ...] = (
    ActivityEvidence.startup_time_over,
    ActivityEvidence.turn_started,
    ActivityEvidence.turn_stopped,
    ActivityEvidence.dialog_shown,
    ActivityEvidence.dialog_answered,
    ActivityEvidence.screen_shows_work,
    ActivityEvidence.screen_shows_idle,
    ActivityEvidence.unseen_turn_ended,
    ActivityEvidence.command_ended,
)


def _end_machine(activity: ActivityEvidence, core: _MachineState) -> None:
    core.state = AgentState.OVER


def _register_transitions() -> None:
    moving = set()
    for states, move, target, telling in _MOVES:
        for doing in states:
            _state[doing].upon(move).to(_state[target])(telling(target))
            moving.add((doing, move))
    for doing in AgentState:
        for move in _INPUTS:
            if (doing, move) not in moving:
                _state[doing].upon(move).loop().returns(None)
        if doing is not AgentState.OVER:
            _state[doing].upon(ActivityEvidence.process_ended).to(_state[AgentState.OVER])(
                _end_machine
            )
    _state[AgentState.OVER].upon(ActivityEvidence.process_ended).loop().returns(None)


_register_transitions()
_machine = _builder.build()


class ActivityMachine:
    """State machine of one agent's activity, which begins when its pane is watched.

    @ivar evidence: receives the inputs of the machine.
    """

    def __init__(self, sink: ActivitySink, doing: AgentState) -> None:
        self._core = _MachineState(sink, doing)
        self.evidence: ActivityEvidence = _machine(self._core, _state[doing])

    @property
    def state(self) -> AgentState:
        """Current state of the agent."""
        return self._core.state
