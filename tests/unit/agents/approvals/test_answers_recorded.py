"""Answers on recorded screens of the real client."""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.frames import HERE
from tests.frames.score import RULES
from tests.unit.agents.rig import COMPOSER, Screen
from tservice.agents.approvals.answers import Action, Answer
from tservice.agents.approvals.keys import Answerer, Outcome
from tservice.agents.approvals.model import is_asking
from tservice.agents.approvals.screen import AnswerScreen, dialog_rows
from tservice.mux.interface import PaneSpec
from tservice.mux.testing.multiplexer import FakeHost, FakeMultiplexer, FakePane
from tservice.terminal.dialogs import Dialog, read_dialog
from tservice.terminal.screen import Frame

FOLDER = HERE / "claude"
ID = "0a1b2c3d-0000-4000-8000-00000000000c"


@frozen
class Recorded:
    """A recorded dialog."""

    name: str
    data: bytes
    frame: Frame
    dialog: Dialog

    @property
    def size(self) -> tuple[int, int]:
        found = re.match(r"(\d+)x(\d+)_", self.name)
        return (int(found[1]), int(found[2])) if found else (120, 40)


def recorded() -> list[Recorded]:
    """Every recorded dialog that an agent raised."""
    found = []
    for path in sorted(FOLDER.rglob("*.ansi.txt")):
        data = path.read_bytes()
        frame = Frame.from_capture(data)
        dialog = read_dialog(frame, RULES["claude"])
        if dialog is not None and is_asking(dialog):
            found.append(Recorded(path.name, data, frame, dialog))
    return found


class RecordedTests(SynchronousTestCase):
    """Each dialog is left by one key, the right one."""

    def played(self, shown: Recorded, answer: Answer, key: bytes) -> tuple[list[bytes], Any]:
        clock, screen = Clock(), Screen()
        screen.answers = {key: COMPOSER}
        cols, rows = shown.size
        host = FakeHost(clock, lambda spec: screen)
        spec = PaneSpec(session_id=ID, argv=("x",), env={}, cwd="/", cols=cols, rows=rows)
        pane: FakePane = self.successResultOf(
            Deferred.fromCoroutine(FakeMultiplexer(clock, host).create(spec))
        )
        text = shown.data.decode().rstrip("\n")
        screen.show("\n".join(text.split("\n")[:rows]))
        answers = AnswerScreen(clock, pane, RULES["claude"])
        seen = self.successResultOf(Deferred.fromCoroutine(answers.peek()))
        assert seen.dialog is not None, shown.name
        given = Deferred.fromCoroutine(
            Answerer(clock, answers).give(answer, seen.dialog.frame_hash)
        )
        clock.pump([0.1] * 100)
        outcome: Outcome = self.successResultOf(given)
        return screen.pressed, outcome

    def test_there_are_many(self) -> None:
        """So that the loops below are not empty."""
        kinds = {each.dialog.kind.value for each in recorded()}
        self.assertEqual({"permission", "plan", "question", "review", "form", "notice"}, kinds)
        self.assertGreater(len(recorded()), 40)

    def test_deny(self) -> None:
        for shown in recorded():
            pressed, outcome = self.played(shown, Answer(action=Action.DENY), b"\x1b")
            self.assertEqual(([b"\x1b"], True), (pressed, outcome.closed), shown.name)

    def test_each_option(self) -> None:
        for shown in recorded():
            dialog = shown.dialog
            if not dialog.digits_answer or dialog.page == "multi":
                continue
            number = len(dialog.options)
            key = str(number).encode()
            answer = Answer(action=Action.OPTION, options=(number,))
            pressed, outcome = self.played(shown, answer, key)
            self.assertEqual(([key], True), (pressed, outcome.closed), shown.name)

    def test_the_guarded_rows_hold_question_and_options(self) -> None:
        for shown in recorded():
            rows = dialog_rows(shown.frame, shown.dialog)
            text = "\n".join(shown.frame.rows[row] for row in rows)
            for option in shown.dialog.options:
                self.assertIn(option.label.split()[0], text, shown.name)
            self.assertEqual(shown.frame.bottom, rows[-1], shown.name)
