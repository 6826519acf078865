"""A played agent of one of the simpler families: first dialog, prompt, approval, answer."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.agents.mock_tui.choice import ESCAPED
from tests.agents.mock_tui.composer import MockComposer
from tests.agents.mock_tui.engine import (
    AskStep,
    ChildStep,
    GateStep,
    SleepStep,
    Turn,
    TurnEngine,
    TurnInterrupted,
)
from tests.agents.mock_tui.families import FamilyLayout, LayoutContext
from tests.agents.mock_tui.keys import Key, PastedText, TypedText
from tests.agents.mock_tui.log import TurnLog
from tests.agents.mock_tui.scenario import MockScenario, is_deaf
from tests.agents.mock_tui.terminal import MockView
from tests.agents.stub.record import Outcome
from tests.agents.stub.script import (
    CLOSING,
    CallDirective,
    FailDirective,
    Plan,
    SayDirective,
    ShellDirective,
    plan,
)

DOUBLE = 1.0
"""Seconds in which a second Escape counts together with the first."""


class PermissionRefused(Exception):
    """The person said no; the turn is over."""


class SimpleMock:
    """The program as L{terminal.run} sees it."""

    def __init__(
        self, family: FamilyLayout, place: tuple[Path, Path], scenario: MockScenario, now: float
    ) -> None:
        self.ended: int | None = None
        self.farewell: Sequence[str] = ()
        self.alternate = family.alternate
        self._family, self._scenario = family, scenario
        self._home, self._cwd = place
        self._engine = TurnEngine(scenario.speed, self._cwd / scenario.gates, now)
        self._composer, self._queue = MockComposer(), list[str]()
        self._log = TurnLog(self._cwd / scenario.record, family.name)
        self._rows: list[tuple[str, str]] = []
        self._streamed = ""
        self._ready_at: float | None = None
        self._trusts: int | None = None
        self._began, self._frame = now, 0
        self._escapes, self._escaped_at = 0, now
        self._engine.later(scenario.start_delay, self._first)

    @property
    def _marker(self) -> Path:
        return self._home / f".mock-{self._family.name}-trusted"

    def _first(self) -> None:
        if self._family.trust is None or not self._scenario.trust or self._marker.exists():
            self._ready_at = self._engine.now
            return
        self._engine.modal, self._trusts = self._family.trust(self._cwd, 0)

    # --- keys

    def keys(self, keys: list[Key]) -> None:
        """Act on one read."""
        if self._engine.modal is not None:
            answer = self._engine.modal.press(keys)
            if isinstance(answer, int):
                self._answered(answer)
            return
        if self._ready_at is None:
            return
        pasted = any(isinstance(key, PastedText) for key in keys)
        for key in keys:
            self._key(key, bulky=pasted)

    def _answered(self, answer: int) -> None:
        if self._trusts is None:
            self._engine.answer(answer)
            return
        if answer != self._trusts:
            self.ended = 0
            return
        self._engine.modal, self._trusts = None, None
        self._marker.touch()
        self._ready_at = self._engine.now

    def _key(self, key: Key, *, bulky: bool) -> None:
        if isinstance(key, TypedText):
            self._composer.type(key.text)
        elif isinstance(key, PastedText):
            self._composer.shown += key.text.removesuffix("\n")
        elif key.name == "newline":
            self._composer.type("\n")
        elif key.name == "backspace":
            self._composer.backspace()
        elif key.name == "escape":
            self._escape()
        elif key.name == "enter" and not bulky:
            self._enter()

    def _escape(self) -> None:
        now = self._engine.now
        self._escapes = self._escapes + 1 if now - self._escaped_at < DOUBLE else 1
        self._escaped_at = now
        if self._engine.busy and self._escapes >= self._family.escapes:
            self._engine.interrupt()

    def _enter(self) -> None:
        assert self._ready_at is not None
        fresh = self._engine.now - self._ready_at < self._scenario.lost_enter
        fresh = fresh or is_deaf(self._scenario, self._cwd)
        if fresh or not self._composer.shown.strip():
            return
        text = self._composer.take()
        if text in ("/quit", "/exit"):
            self.ended = 0
            return
        if not self._engine.busy:
            self._engine.start(self._turn(text))
            return
        self._queue.append(text)
        if self._family.steers:
            self._engine.interrupt()

    # --- turns

    def _turn(self, prompt: str) -> Turn:
        planned = plan(self._scenario.answers.get(prompt, prompt), last_tool=None, has_tools=True)
        number = self._log.begin([prompt], planned)
        self._began, self._streamed = self._engine.now, ""
        self._rows.append(("prompt", prompt))
        outcome: Outcome = "said"
        try:
            yield SleepStep(0.1)
            yield from self._answer(planned)
            self._finish()
        except TurnInterrupted:
            outcome = "aborted"
            if not (self._queue and self._family.steers):
                self._rows += [("answer", self._streamed), ("row", self._family.interrupted)]
        except PermissionRefused:
            outcome = "aborted"
            self._rows.append(("row", self._family.refused))
        self._streamed = ""
        self._log.end(number, "failed" if isinstance(planned, FailDirective) else outcome)

    def _finish(self) -> None:
        if self._family.done is not None:
            seconds = int((self._engine.now - self._began) * self._scenario.speed)
            self._rows.append(("row", self._family.done.format(seconds=seconds)))

    def _answer(self, planned: Plan) -> Turn:
        if isinstance(planned, FailDirective):
            self._rows.append(("row", self._family.failed.format(status=planned.status)))
            return
        if isinstance(planned, ShellDirective):
            yield from self._shell(planned.command)
            planned = SayDirective(text=CLOSING)
        if isinstance(planned, CallDirective) and planned.name == "Write" and self._family.writing:
            yield from self._write(planned.arguments)
            planned = SayDirective(text=CLOSING)
        if not isinstance(planned, SayDirective):
            planned = SayDirective(text="This client has no such tool.")
        yield SleepStep(planned.think)
        yield from self._say(planned)

    def _say(self, say: SayDirective) -> Turn:
        if say.hold is not None:
            self._streamed = say.text.split(" ")[0]
            yield GateStep(say.hold)
        for word in say.text.split(" ") if say.pause else []:
            self._streamed = f"{self._streamed} {word}".strip()
            yield SleepStep(say.pause)
        self._streamed = ""
        self._rows.append(("answer", say.text))

    def _write(self, given: Mapping[str, Any]) -> Turn:
        assert self._family.writing is not None
        modal = self._family.writing(given["file_path"], given["content"])
        answer = yield AskStep(modal)
        if answer in (len(modal.options) - 1, ESCAPED):
            raise PermissionRefused
        (self._cwd / given["file_path"]).write_text(given["content"], "utf-8")
        self._rows.append(("tool", given["file_path"]))

    def _shell(self, command: str) -> Turn:
        if self._family.approval is not None:
            answer = yield AskStep(self._family.approval(command, 0))
            if answer in (2, ESCAPED):
                raise PermissionRefused
        child = subprocess.Popen(
            ["sh", "-c", command],
            cwd=self._cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        yield ChildStep(child)
        self._rows.append(("tool", command))

    # --- time and screen

    def tick(self, now: float) -> None:
        """Let time pass."""
        self._frame += 1
        self._engine.tick(now)
        if self._queue and not self._engine.busy and self._engine.modal is None:
            self._engine.start(self._turn(self._queue.pop(0)))

    def view(self, columns: int, rows: int) -> MockView:
        """The screen now."""
        family, modal = self._family, self._engine.modal
        if self._trusts is not None and modal is not None:
            return MockView(done=[], live=["", *modal.rows(columns)], title="", epoch=1)
        if self._ready_at is None:
            return MockView(done=[], live=[], title="")
        done = list(family.header(self._cwd))
        for kind, text in self._rows:
            done += self._entry(kind, text, columns)
        live = family.answer(self._streamed, columns) if self._streamed else []
        shown = self._shown(asking=modal is not None)
        cursor = None
        if modal is not None:
            live += ["", *modal.rows(columns)]
        else:
            bottom, place = family.bottom(shown, columns)
            cursor = len(live) + place[0], place[1]
            live += bottom
        return MockView(done=done, live=live, title=family.title(shown), cursor=cursor, epoch=2)

    def _entry(self, kind: str, text: str, columns: int) -> list[str]:
        if kind == "prompt":
            return self._family.prompt(text, columns)
        if kind == "answer":
            return self._family.answer(text, columns)
        return self._family.tool(text) if kind == "tool" else [text, ""]

    def _shown(self, *, asking: bool) -> LayoutContext:
        return LayoutContext(
            cwd=self._cwd,
            text=self._composer.shown,
            busy=self._engine.busy and not asking,
            seconds=(self._engine.now - self._began) * self._scenario.speed,
            frame=self._frame,
            queue=tuple(self._queue),
            asking=asking,
            home=not self._rows,
        )

    def close(self) -> None:
        """Nothing runs beyond the turn's own child, which the engine ends."""
        self._engine.interrupt()
