"""State machine of one agent's activity, and the evidence that moves it (protocol-status).

The evidence in order of trust: hooks, the process, the screen, the pane's title, the rhythm of the
output. Unknown facts are no evidence and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from automat import TypeMachineBuilder

from tservice.sessions.interfaces import ActivitySink


class Doing(StrEnum):
    """State of an agent, as far as it is known.

    C{blocked} is a turn that waits for an answer to a dialog. The session stays busy, because its
    turn is not over.
    """

    STARTING = "starting"
    IDLE = "idle"
    WORKING = "working"
    BLOCKED = "blocked"
    OVER = "over"


class Activity(Protocol):
    """Inputs of the state machine; C{reason} is one line for C{statusReason}."""

    def settled(self, reason: str) -> None:
        """Record that a fresh agent had its time to start."""

    def prompted(self, reason: str) -> None:
        """Record the start of a turn, as reported by the agent."""

    def stopped(self, reason: str) -> None:
        """Record the end of the turn, as reported by the agent."""

    def asked(self, reason: str) -> None:
        """Record that a dialog of the turn waits for an answer."""

    def answered(self, reason: str) -> None:
        """Record an answer to the dialog, as reported by the agent."""

    def seen_working(self, reason: str) -> None:
        """Record that the screen shows a running turn."""

    def seen_idle(self, reason: str) -> None:
        """Record that the screen shows no running turn."""

    def passed(self, reason: str) -> None:
        """Record a turn that began and ended between two looks."""

    def done(self, reason: str) -> None:
        """Record the end of a command that is no turn."""

    def ended(self) -> None:
        """Record the end of the process, or of watching it."""


@dataclass
class _Core:
    sink: ActivitySink
    doing: Doing


_Output = Callable[[Activity, _Core, str], None]

_builder = TypeMachineBuilder(Activity, _Core)
_state = {doing: _builder.state(doing.value) for doing in Doing}


def _noting(target: Doing) -> _Output:
    def output(activity: Activity, core: _Core, reason: str) -> None:
        core.doing = target
        core.sink.report_evidence(reason)

    return output


def _telling_working(target: Doing) -> _Output:
    def output(activity: Activity, core: _Core, reason: str) -> None:
        core.doing = target
        core.sink.report_working(reason)

    return output


def _telling_idle(target: Doing) -> _Output:
    def output(activity: Activity, core: _Core, reason: str) -> None:
        core.doing = target
        core.sink.report_idle(reason)

    return output


def _telling_both(target: Doing) -> _Output:
    def output(activity: Activity, core: _Core, reason: str) -> None:
        core.doing = target
        core.sink.report_working(reason)
        core.sink.report_idle(reason)

    return output


_AT_REST = (Doing.STARTING, Doing.IDLE)
_IN_TURN = (Doing.WORKING, Doing.BLOCKED)
_Input = Callable[[Activity, str], None]

_MOVES: list[tuple[tuple[Doing, ...], _Input, Doing, Callable[[Doing], _Output]]] = [
    ((Doing.STARTING,), Activity.settled, Doing.IDLE, _telling_idle),
    ((Doing.STARTING,), Activity.seen_idle, Doing.IDLE, _telling_idle),
    ((Doing.STARTING,), Activity.stopped, Doing.IDLE, _telling_idle),
    (_AT_REST, Activity.prompted, Doing.WORKING, _telling_working),
    (_AT_REST, Activity.seen_working, Doing.WORKING, _telling_working),
    (_AT_REST, Activity.asked, Doing.BLOCKED, _telling_working),
    (_IN_TURN, Activity.stopped, Doing.IDLE, _telling_idle),
    (_IN_TURN, Activity.seen_idle, Doing.IDLE, _telling_idle),
    (_AT_REST, Activity.passed, Doing.IDLE, _telling_both),
    (_AT_REST, Activity.done, Doing.IDLE, _telling_idle),
    ((Doing.WORKING,), Activity.asked, Doing.BLOCKED, _noting),
    ((Doing.BLOCKED,), Activity.prompted, Doing.WORKING, _noting),
    ((Doing.BLOCKED,), Activity.answered, Doing.WORKING, _noting),
    ((Doing.BLOCKED,), Activity.seen_working, Doing.WORKING, _noting),
]
"""Transitions. Every other input keeps the state and notifies no one.

A turn that waits for an answer, or continues after one, stays busy: only the reason changes.
"""

_INPUTS: tuple[_Input, ...] = (
    Activity.settled,
    Activity.prompted,
    Activity.stopped,
    Activity.asked,
    Activity.answered,
    Activity.seen_working,
    Activity.seen_idle,
    Activity.passed,
    Activity.done,
)


def _end(activity: Activity, core: _Core) -> None:
    core.doing = Doing.OVER


def _fill() -> None:
    moving = set()
    for states, move, target, telling in _MOVES:
        for doing in states:
            _state[doing].upon(move).to(_state[target])(telling(target))
            moving.add((doing, move))
    for doing in Doing:
        for move in _INPUTS:
            if (doing, move) not in moving:
                _state[doing].upon(move).loop().returns(None)
        if doing is not Doing.OVER:
            _state[doing].upon(Activity.ended).to(_state[Doing.OVER])(_end)
    _state[Doing.OVER].upon(Activity.ended).loop().returns(None)


_fill()
_machine = _builder.build()


class Course:
    """Activity of one agent from the moment when its pane is watched.

    @ivar tell: accepts evidence.
    """

    def __init__(self, sink: ActivitySink, doing: Doing) -> None:
        self._core = _Core(sink, doing)
        self.tell: Activity = _machine(self._core, _state[doing])

    @property
    def doing(self) -> Doing:
        """State of the agent."""
        return self._core.doing
