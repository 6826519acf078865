"""Time, turns and dialogs of a played agent.

A turn is a generator: it yields what it waits for and is resumed with the
result, or gets L{TurnInterrupted} thrown in.
"""

from __future__ import annotations

import heapq
import subprocess
from collections.abc import Callable, Generator
from itertools import count
from pathlib import Path
from typing import Protocol

from attrs import define, field, frozen

from tests.agents.mock_tui.keys import Key


class TurnInterrupted(Exception):
    """Escape was pressed while the turn was running."""


class ModalView(Protocol):
    """Something on the screen that takes all keys."""

    def press(self, keys: list[Key]) -> object | None:
        """The answer, once the keys of one read gave one."""

    def rows(self, columns: int) -> list[str]:
        """What it looks like."""


@frozen
class SleepStep:
    """Wait so many seconds, scaled by the engine's speed."""

    seconds: float


@frozen
class GateStep:
    """Wait until the file C{name} appears in the gates' folder."""

    name: str


@frozen
class AskStep:
    """Show a dialog and wait for its answer."""

    modal: ModalView


@frozen
class ChildStep:
    """Wait for a child process; resumed with its exit status."""

    process: subprocess.Popen[str]


Await = SleepStep | GateStep | AskStep | ChildStep
Turn = Generator[Await, object, None]


@define(order=False)
class TimerCall:
    """A call in the future."""

    due: float
    call: Callable[[], None]
    live: bool = True

    def cancel(self) -> None:
        """Never call it."""
        self.live = False


@define
class TurnEngine:
    """Runs one turn at a time.

    @ivar speed: how many times faster than the real program all delays are.
    @ivar now: monotonic seconds, as of the last tick.
    """

    speed: float
    gates: Path
    now: float
    modal: ModalView | None = None
    _turn: Turn | None = None
    _waits: Await | None = None
    _until: float = 0.0
    _timers: list[tuple[float, int, TimerCall]] = field(factory=list)
    _numbers: count[int] = field(factory=count)

    @property
    def busy(self) -> bool:
        """Whether a turn is under way, a dialog of it included."""
        return self._turn is not None

    def later(self, seconds: float, call: Callable[[], None]) -> TimerCall:
        """Call something after scaled seconds."""
        timer = TimerCall(self.now + seconds / self.speed, call)
        heapq.heappush(self._timers, (timer.due, next(self._numbers), timer))
        return timer

    def start(self, turn: Turn) -> None:
        """Begin a turn; none may be under way."""
        assert self._turn is None
        self._turn = turn
        self._resume(None)

    def tick(self, now: float) -> None:
        """Let time pass."""
        self.now = now
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.live:
                timer.call()
        self._look()

    def _look(self) -> None:
        """Resume the turn if what it waits for is there."""
        waits = self._waits
        if isinstance(waits, SleepStep) and self.now >= self._until:
            self._resume(None)
        elif isinstance(waits, GateStep) and (self.gates / waits.name).exists():
            (self.gates / waits.name).unlink()
            self._resume(None)
        elif isinstance(waits, ChildStep) and waits.process.poll() is not None:
            self._resume(waits.process.returncode)

    def answer(self, value: object) -> None:
        """Close the dialog with an answer."""
        self.modal = None
        if isinstance(self._waits, AskStep):
            self._resume(value)

    def interrupt(self) -> None:
        """Throw L{TurnInterrupted} into the turn."""
        if self._turn is None:
            return
        if isinstance(self._waits, ChildStep):
            self._waits.process.kill()
        self.modal = None
        self._step(lambda turn: turn.throw(TurnInterrupted()))

    def _resume(self, value: object) -> None:
        self._step(lambda turn: turn.send(value))

    def _step(self, go: Callable[[Turn], Await]) -> None:
        turn, self._waits = self._turn, None
        assert turn is not None
        try:
            waits = go(turn)
        except StopIteration:
            self._turn = None
            return
        self._waits = waits
        if isinstance(waits, SleepStep):
            self._until = self.now + waits.seconds / self.speed
        elif isinstance(waits, AskStep):
            self.modal = waits.modal
