"""Answers against dialogs that change at any moment: no key reaches a dialog that nobody meant.

C{python -m tests.stress.approval_races --races 10000 --seed 1}

On the fake multiplexer every command takes a random time to reach the server and its answer a
random time to come back.  Meanwhile the dialog goes away, another one takes its place, or a person
presses a key that the program takes a while to act on.  Half of the screens never rest, so that
only the dialog's rows protect them.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from tests.fakes.multiplexer.multiplexer import FakeHost, FakeMultiplexer, FakePane
from tests.frames.score import RULES
from tests.runtime_harness import HERE
from tests.stress.command import report
from tests.unit.agents.dialog_client import DialogClient, DialogPage, permission_page, question_page
from tservice.agents.approvals.answer_delivery import (
    DialogAnswerer,
    DialogChangedError,
    KeyIgnoredError,
)
from tservice.agents.approvals.answer_screen import SETTLE, AnswerScreen, GuardedScreen
from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.core.kernel.errors import ServiceError
from tservice.mux.interface import PaneSpec

ID = "0a1b2c3d-0000-4000-8000-00000000000a"
SLOWEST = 0.2
"""Seconds that a command or its answer takes at most."""
SPAN = 1.5
"""Seconds within which the dialog changes."""


class SlowClient(DialogClient):
    """Takes a while over a person's key; what is typed meanwhile waits in its terminal."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.waiting: list[bytes] | None = None
        self.delay = 0.0
        self.change: Callable[[], None] = lambda: None

    def input_received(self, data: bytes) -> None:
        if self.waiting is not None:
            self.waiting.append(data)
        elif data == b"y":
            self.waiting = []
            self.clock.callLater(self.delay, self.act, self.change)
        else:
            super().input_received(data)

    def act(self, change: Callable[[], None]) -> None:
        """The person's key has its effect, then all that waited."""
        change()
        waiting, self.waiting = self.waiting or [], None
        for data in waiting:
            self.input_received(data)


def delay_commands(pane: FakePane, real: Any, clock: Clock, dice: random.Random) -> None:
    """Let each command of a pane, and its answer, take a random time from now on."""
    free = 0.0

    def arrive(operation: str, effect: Callable[[], Any], done: Deferred[Any]) -> None:
        answer: Deferred[Any] = real(operation, effect)
        back = dice.uniform(0, SLOWEST)
        answer.addBoth(lambda result: clock.callLater(back, done.callback, result))

    async def do(operation: str, effect: Callable[[], Any]) -> Any:
        nonlocal free
        now = clock.seconds()
        # Commands arrive in the order in which they were sent.
        free = max(free, now + dice.uniform(0, SLOWEST))
        done: Deferred[Any] = Deferred()
        clock.callLater(free - now, arrive, operation, effect, done)
        return await done

    pane._run_on_host = do  # type: ignore[method-assign]


class ApprovalRace:
    """One answer and one change."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.clock = Clock()
        self.clock.advance(1_800_000_000)
        self.client = SlowClient(self.clock)
        host = FakeHost(self.clock, lambda spec: self.client)
        spec = PaneSpec(session_id=ID, argv=("x",), env={}, cwd="/", cols=80, rows=30, place=HERE)
        made = Deferred.fromCoroutine(FakeMultiplexer(self.clock, host).create_pane(spec))
        self.pane: FakePane = made.result  # type: ignore[assignment]
        self.hosted = host[ID]
        self.hosted.is_never_quiet = self.random.random() < 0.5

    def run(self) -> tuple[str, list[tuple[str | None, str]], set[str | None]]:
        """How it ended, the keys of the answer with what they reached, and what was meant."""
        pages, answer = self._scene()
        self.client.ask(*pages)
        meant: set[str | None] = {"review", *(page.name for page in pages)}
        screen = AnswerScreen(self.clock, self.pane, RULES["claude"])
        seen: list[GuardedScreen] = []
        Deferred.fromCoroutine(screen.capture_now()).addCallback(seen.append)
        assert seen[0].dialog is not None
        frame = seen[0].dialog.frame_hash
        self._delay_commands()
        for _ in range(self.random.choice((1, 1, 2))):
            self.clock.callLater(self.random.uniform(0, SPAN), self._change())
        given = Deferred.fromCoroutine(
            DialogAnswerer(self.clock, screen, lambda: None).give_answer(answer, frame)
        )
        ended: list[Any] = []
        given.addBoth(ended.append)
        while not ended:
            due = min(call.getTime() for call in self.clock.getDelayedCalls())
            self.clock.advance(due - self.clock.seconds())
        self.clock.advance(SPAN + SETTLE)
        return self._named(ended[0]), list(self.client.log), meant

    def _scene(self) -> tuple[tuple[DialogPage, ...], DialogAnswer]:
        kind = self.random.randrange(5)
        if kind == 0:
            return (permission_page("touch one"),), DialogAnswer(action=AnswerAction.APPROVE)
        if kind == 1:
            return (permission_page("touch one"),), DialogAnswer(action=AnswerAction.DENY)
        if kind == 2:
            page = question_page("Colour", "Red", "Green")
            return (page,), DialogAnswer(action=AnswerAction.OPTION, options=(2,))
        if kind == 3:
            page = question_page("Colour", "Red", "Green")
            return (page,), DialogAnswer(action=AnswerAction.TEXT, text="deep blue")
        page = question_page("Checks", "Types", "Style", "Tests", multi=True)
        return (page,), DialogAnswer(action=AnswerAction.OPTIONS, options=(1, 3))

    def _change(self) -> Callable[[], None]:
        similar = question_page("Colour", "Black", "White")
        similar.name = "another question"
        other = self.random.choice((permission_page("rm -rf /"), similar, None))

        def change() -> None:
            if other is not None:
                self.client.ask(other)
            if self.client.queue:
                self.client.leave("elsewhere")

        def person() -> None:
            """Types; the program acts on it a little later."""
            self.client.delay = self.random.uniform(0, SETTLE - 0.01)
            self.client.change = change
            Deferred.fromCoroutine(self.pane.write_bytes(b"y"))

        return self.random.choice((change, change, person))

    def _delay_commands(self) -> None:
        delay_commands(self.pane, self.hosted.run_command, self.clock, self.random)

    def _named(self, ending: Any) -> str:
        why = getattr(ending, "value", ending)
        for kind in (DialogChangedError, KeyIgnoredError, ServiceError):
            if isinstance(why, kind):
                return kind.__name__
        if hasattr(ending, "raiseException"):
            ending.raiseException()
        return "closed" if why.closed else "open"


def run(races: int, seed: int) -> Counter[str]:
    """Run so many; raises at the first key that reached what was not meant."""
    found: Counter[str] = Counter()
    for number in range(races):
        ending, keys, meant = ApprovalRace(seed * 1_000_000 + number).run()
        wrong = [(name, key) for name, key in keys if name not in meant]
        if wrong:
            raise AssertionError(f"race {number}: {wrong} of {keys}, {ending}")
        found[ending] += 1
        found["keys"] += len(keys)
    return found


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "races", 10_000))
