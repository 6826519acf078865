"""The played agents' dialogs against the recorded ones, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui import claude_dialogs as dialogs
from tests.agents.mock_tui.engine import ModalView
from tests.agents.mock_tui.families import CODEX, GEMINI, FamilyLayout
from tests.agents.mock_tui.form import MockForm
from tests.agents.mock_tui.keys import KeyPress, TypedText
from tests.agents.mock_tui.questions import QuestionPage, QuestionsDialog
from tests.agents.stub.script import MULTIPLE, PLAN_TEXT, SECOND, SINGLE
from tests.frames import capture

pytestmark = pytest.mark.essential

WORK = Path("/tmp/demo/work")
COMMAND = {"command": "touch made", "description": "Do what the test says"}
FILE = {"file_path": "/tmp/demo/work/notes.txt", "content": "hello\n"}


def recorded(cli: str, name: str) -> list[str]:
    """The rows of a recording, without blanks at their ends and blank rows at the bottom."""
    text = capture(cli, name).read_text("utf-8")
    return [row.rstrip(" ") for row in text.rstrip("\n").split("\n")]


def trimmed(rows: list[str]) -> list[str]:
    """Rows without blanks at their ends."""
    return [row.rstrip(" ") for row in rows]


class ClaudeDialogTests(SynchronousTestCase):
    def check(self, name: str, modal: ModalView, columns: int) -> None:
        """The recording ends with the dialog as played."""
        played = trimmed(modal.rows(columns))
        self.assertEqual(
            played, recorded("claude", f"{columns}x{_ROWS[columns]}_{name}")[-len(played) :]
        )

    def test_trust_dialog_matches_the_recording(self) -> None:
        for columns in _ROWS:
            self.check("trust", dialogs.trust(WORK, "numbered")[0], columns)

    def test_trust_frame_after_down_matches_the_recording(self) -> None:
        modal, _ = dialogs.trust(WORK, "numbered")
        modal.press([KeyPress("down")])
        self.check("trust_down", modal, 120)

    def test_bypass_warning_matches_the_recording(self) -> None:
        for columns in _ROWS:
            self.check("bypass_warning", dialogs.bypass(), columns)

    def test_mcp_server_dialog_matches_the_recording(self) -> None:
        self.check("mcp_server_dialog", dialogs.server("forms"), 120)
        self.check("mcp_server_dialog", dialogs.server("forms"), 80)

    def test_bash_dialog_matches_the_recording(self) -> None:
        self.check("bash_dialog", dialogs.bash(COMMAND, WORK), 120)
        self.check("bash_dialog", dialogs.bash(COMMAND, WORK), 80)

    def test_write_dialog_matches_the_recording(self) -> None:
        for columns in _ROWS:
            self.check("write_dialog", dialogs.write(FILE), columns)

    def test_edit_dialog_matches_the_recording(self) -> None:
        given = {**FILE, "old_string": "hello", "new_string": "goodbye"}
        for columns in (120, 60):
            self.check("edit_dialog", dialogs.edit(given), columns)

    def test_fetch_dialog_matches_the_recording(self) -> None:
        given = {"url": "https://example.org/x", "prompt": "read"}
        self.check("fetch_dialog", dialogs.fetch(given), 120)

    def test_leave_plan_mode_frame_matches_the_recording(self) -> None:
        played = trimmed(dialogs.leave_plan_mode().rows(120))
        self.assertEqual(played, recorded("claude", "99_plan_2_dialog")[-len(played) :])

    def test_model_picker_matches_the_recording(self) -> None:
        self.check("model_picker", dialogs.model(), 120)

    def test_mcp_tool_dialog_matches_the_recording(self) -> None:
        self.check("mcp_tool_dialog", dialogs.mcp("forms", "ask_user", WORK), 120)

    def test_usage_limit_dialog_matches_the_recording(self) -> None:
        for columns in _ROWS:
            self.check("usage_limit", dialogs.limit(), columns)

    def test_plan_frame_without_its_file_row_matches_the_recording(self) -> None:
        played = trimmed(dialogs.plan(PLAN_TEXT).rows(120))[:-1]
        self.assertEqual(played, recorded("claude", "120x40_plan_dialog")[-len(played) - 1 : -1])

    def test_form_dialog_matches_the_recording(self) -> None:
        form = MockForm("forms", "Who are you?")
        self.check("form", form, 120)
        form.press([TypedText("Ada")])
        self.check("form_typed", form, 120)


class ClaudeQuestionTests(SynchronousTestCase):
    """The question dialogs, step by step as they were recorded."""

    def check(self, name: str, modal: QuestionsDialog) -> None:
        played = trimmed(modal.rows(120))
        self.assertEqual(played, recorded("claude", f"120x40_{name}")[-len(played) :])

    def test_single_choice_question_matches_the_recording(self) -> None:
        modal = QuestionsDialog([QuestionPage.of(SINGLE)])
        self.check("question", modal)
        modal.press([KeyPress("down")])
        self.check("question_down", modal)
        modal.press([TypedText("4")])
        modal.press([TypedText("port 7")])
        rows = trimmed(modal.rows(120))
        self.assertEqual(
            rows[:-1], recorded("claude", "120x40_question_free_text")[-len(rows) : -1]
        )
        self.assertEqual({SINGLE["question"]: "port 7"}, modal.press([KeyPress("enter")]))

    def test_multiple_choice_question_matches_the_recording(self) -> None:
        modal = QuestionsDialog([QuestionPage.of(MULTIPLE)])
        self.check("multiple", modal)
        modal.press([TypedText("1")])
        modal.press([TypedText("3")])
        self.check("multiple_two_ticked", modal)
        modal.press([KeyPress("right")])
        self.check("multiple_review", modal)
        self.assertEqual({MULTIPLE["question"]: "Types, Unit tests"}, modal.press([TypedText("1")]))

    def test_several_questions_match_the_recording(self) -> None:
        modal = QuestionsDialog(
            [QuestionPage.of(SINGLE), QuestionPage.of(MULTIPLE), QuestionPage.of(SECOND)]
        )
        self.check("several_first", modal)
        modal.press([TypedText("2")])
        modal.press([TypedText("2")])
        self.check("several_second", modal)
        modal.press([KeyPress("right")])
        self.check("several_third", modal)
        modal.press([TypedText("1")])
        self.check("several_review", modal)


class FamilyDialogTests(SynchronousTestCase):
    def check(self, family: FamilyLayout, name: str, modal: ModalView, columns: int) -> None:
        played = [row for row in trimmed(modal.rows(columns)) if row]
        shown = [row for row in recorded(family.name, name) if row]
        self.assertEqual(played, shown[-len(played) :])

    def test_codex_dialogs_match_the_recording(self) -> None:
        assert CODEX.trust is not None
        assert CODEX.approval is not None
        self.check(CODEX, "120x40_trust", CODEX.trust(WORK, 120)[0], 120)
        self.check(CODEX, "80x24_trust", CODEX.trust(WORK, 80)[0], 80)
        self.check(CODEX, "120x40_approval", CODEX.approval("touch made", 120), 120)

    def test_gemini_approval_options_match_the_recording(self) -> None:
        """The box's rows differ in their padding; options and question are the same."""
        assert GEMINI.approval is not None
        played = [row.strip("│ ") for row in GEMINI.approval("touch made", 120).rows(120)]
        shown = [row.strip("│ ") for row in recorded("gemini", "120x40_approval")]
        self.assertEqual(played[-6:-1], shown[-6:-1])

    def test_gemini_write_dialog_matches_the_recording(self) -> None:
        assert GEMINI.writing is not None
        played = trimmed(GEMINI.writing("notes.txt", "hello\n").rows(120))
        self.assertEqual(played, recorded("gemini", "120x40_write_dialog")[-len(played) :])


_ROWS = {120: 40, 80: 24, 60: 30}
