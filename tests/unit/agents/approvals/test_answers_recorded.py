"""Answers on recorded screens of the real client."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.multiplexer.multiplexer import FakeHost, FakeMultiplexer, FakePane
from tests.frames import HERE
from tests.frames.score import RULES
from tests.non_empty import require_items
from tests.runtime_harness import own_location
from tests.unit.agents.harness import COMPOSER, ScriptedScreen
from tests.unit.agents.recorded_dialogs import RecordedDialog, recorded_dialogs_of
from tests.unit.right_checks import allow_change
from tservice.agents.approvals.answer_delivery import AnswerOutcome, DialogAnswerer, KeyIgnoredError
from tservice.agents.approvals.answer_screen import AnswerScreen, find_dialog_rows
from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.clis.interfaces import AnswerKeys
from tservice.clis.stock_entries import load_stock_entries
from tservice.mux.interface import PaneSpec

ESCAPE, RIGHT, ENTER = b"\x1b", b"\x1b[C", b"\r"
EXTERNAL = {"codex": 9, "gemini": 12, "opencode": 10}
"""The other CLIs whose dialogs make items, and of how many recorded ones at least."""
ID = "0a1b2c3d-0000-4000-8000-00000000000c"


class RecordedCase(SynchronousTestCase):
    """A recorded dialog is shown, and answered."""

    def played(
        self, shown: RecordedDialog, answer: DialogAnswer, screens: dict[bytes, str]
    ) -> tuple[list[bytes], Any]:
        """What was pressed, and what came of it."""
        pressed, given = self.given(shown, answer, screens)
        outcome: AnswerOutcome = self.successResultOf(given)
        return pressed, outcome

    def given(
        self, shown: RecordedDialog, answer: DialogAnswer, screens: dict[bytes, str]
    ) -> tuple[list[bytes], Deferred[AnswerOutcome]]:
        """What was pressed, and how it ended.

        @param screens: what a key leads to.
        """
        clock, screen = Clock(), ScriptedScreen()
        screen.answers = screens
        cols, rows = shown.size
        host = FakeHost(clock, lambda spec: screen)
        spec = PaneSpec(
            session_id=ID, argv=("x",), env={}, cwd="/", cols=cols, rows=rows, place=own_location()
        )
        pane: FakePane = self.successResultOf(
            Deferred.fromCoroutine(FakeMultiplexer(clock, host).create_pane(spec))
        )
        screen.show(_shown(shown))
        answers = AnswerScreen(clock, pane, RULES[shown.cli])
        seen = self.successResultOf(Deferred.fromCoroutine(answers.capture_now()))
        assert seen.dialog is not None, shown.name
        given = Deferred.fromCoroutine(
            DialogAnswerer(clock, answers, allow_change, keys_of(shown.cli)).give_answer(
                answer, seen.dialog.frame_hash
            )
        )
        clock.pump([0.1] * 100)
        return screen.pressed, given


def keys_of(cli: str) -> AnswerKeys:
    """Those of its stock entry."""
    mode = "primary" if cli == "claude" else cli
    return load_stock_entries()[mode].capabilities.answers


def _shown(recorded: RecordedDialog) -> str:
    rows = recorded.data.decode().rstrip("\n").split("\n")
    return "\n".join(rows[: recorded.size[1]])


@pytest.mark.long
class RecordedAnswerTests(RecordedCase):
    """Each dialog is left by one key, the right one."""

    def test_recorded_dialogs_cover_every_kind(self) -> None:
        """So that the loops below are not empty."""
        kinds = {each.dialog.kind.value for each in recorded_dialogs_of()}
        raised = {"permission", "plan", "question", "review", "form"}
        first = {"trust", "bypass", "api-key", "mcp", "notice"}
        self.assertEqual({*raised, *first}, kinds)
        self.assertGreater(len(recorded_dialogs_of()), 40)

    def test_deny_leaves_each_recorded_dialog(self) -> None:
        for shown in require_items(recorded_dialogs_of()):
            pressed, outcome = self.played(
                shown, DialogAnswer(action=AnswerAction.DENY), {ESCAPE: COMPOSER}
            )
            self.assertEqual(([b"\x1b"], True), (pressed, outcome.closed), shown.name)

    def test_each_option_of_a_recorded_dialog_is_chosen_by_its_digit(self) -> None:
        for shown in require_items(recorded_dialogs_of()):
            dialog = shown.dialog
            if not dialog.digits_answer or dialog.page == "multi":
                continue
            number = len(dialog.options)
            key = str(number).encode()
            answer = DialogAnswer(action=AnswerAction.OPTION, options=(number,))
            pressed, outcome = self.played(shown, answer, {key: COMPOSER})
            self.assertEqual(([key], True), (pressed, outcome.closed), shown.name)

    def test_guarded_rows_contain_question_and_options(self) -> None:
        for shown in require_items(recorded_dialogs_of()):
            rows = find_dialog_rows(shown.frame, shown.dialog)
            text = "\n".join(shown.frame.rows[row] for row in rows)
            for option in shown.dialog.options:
                self.assertIn(option.label.split()[0], text, shown.name)
            self.assertEqual(shown.frame.last_row, rows[-1], shown.name)


@pytest.mark.long
class ExternalAnswerTests(RecordedCase):
    """The other CLIs, by the keys of their registry entries."""

    def ready(self, shown: RecordedDialog) -> str:
        """The screen of the same client, at rest."""
        found = next((HERE / shown.cli).rglob("120x40_ready.ansi.txt"))
        return found.read_text("utf-8").rstrip("\n")

    def test_recorded_external_dialogs_exist(self) -> None:
        for cli, count in EXTERNAL.items():
            kinds = {each.dialog.kind.value for each in recorded_dialogs_of(cli)}
            self.assertIn("permission", kinds, cli)
            self.assertGreaterEqual(len(recorded_dialogs_of(cli)), count, cli)

    def test_deny_leaves_each_external_dialog(self) -> None:
        for shown in require_items(each for cli in EXTERNAL for each in recorded_dialogs_of(cli)):
            answer = DialogAnswer(action=AnswerAction.DENY)
            pressed, outcome = self.played(shown, answer, {ESCAPE: self.ready(shown)})
            self.assertEqual(([ESCAPE], True), (pressed, outcome.closed), shown.name)

    def test_each_external_option_is_chosen_by_its_digit(self) -> None:
        for shown in require_items(
            each for cli in ("codex", "gemini") for each in recorded_dialogs_of(cli)
        ):
            for option in shown.dialog.options:
                key = str(option.n).encode()
                answer = DialogAnswer(action=AnswerAction.OPTION, options=(option.n,))
                pressed, outcome = self.played(shown, answer, {key: self.ready(shown)})
                self.assertEqual(([key], True), (pressed, outcome.closed), shown.name)

    def test_side_by_side_options_are_chosen_by_cursor(self) -> None:
        """Opencode has no digits: the highlight is walked there, and seen there, before Enter."""
        by_name = {each.name: each for each in recorded_dialogs_of("opencode")}
        for size in ("120x40", "80x24", "200x50", "62x28"):
            first = by_name[f"{size}_approval.ansi.txt"]
            second = by_name[f"{size}_approval_right.ansi.txt"]
            screens = {RIGHT: _shown(second), ENTER: self.ready(first)}
            approved, outcome = self.played(
                first, DialogAnswer(action=AnswerAction.APPROVE), screens
            )
            self.assertEqual(([ENTER], True), (approved, outcome.closed))
            answer = DialogAnswer(action=AnswerAction.OPTION, options=(2,))
            pressed, outcome = self.played(first, answer, screens)
            self.assertEqual(([RIGHT, ENTER], True), (pressed, outcome.closed))

    def test_highlight_that_does_not_move_is_not_confirmed(self) -> None:
        shown = next(each for each in recorded_dialogs_of("opencode") if "approval" in each.name)
        answer = DialogAnswer(action=AnswerAction.OPTION, options=(3,))
        pressed, given = self.given(shown, answer, {})
        self.failureResultOf(given, KeyIgnoredError)
        self.assertEqual([RIGHT], pressed)
