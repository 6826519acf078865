"""The rules on screens that nobody recorded: other widths, long labels, other glyphs, other
colours, and dialogs that are only quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui import claude_dialogs as dialogs
from tests.agents.mock_tui.choice import ChoiceList
from tests.agents.mock_tui.families import CODEX, GEMINI
from tests.agents.mock_tui.keys import KeyPress, TypedText
from tests.agents.mock_tui.questions import QuestionPage, QuestionsDialog
from tests.agents.stub.script import MULTIPLE, PLAN_TEXT, SINGLE
from tests.examples import example_count
from tests.frames import ScreenRecording, load
from tests.frames.score import RULES
from tservice.terminal.dialogs.dialogs import AgentDialog, read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_status import ScreenReading, read_screen

pytestmark = pytest.mark.long

SETTINGS = settings(
    max_examples=example_count(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
WIDTHS = st.integers(60, 200)
WORDS = st.lists(st.from_regex(r"[a-z./~-]{1,18}", fullmatch=True), min_size=1, max_size=40)
WORK = Path("/home/me/a-project-with-a-long-name")
BANNER = ("╭─── Claude Code v2.1.197 ───╮", "│ Welcome back! │", "╰────────────────────────────╯")

Made = Callable[[str], ChoiceList]
"""A dialog about the words of a command, a path or a label."""

CLAUDE: dict[str, tuple[str, Made]] = {
    "bash": (
        "permission",
        lambda said: dialogs.bash({"command": said, "description": "Do it"}, WORK),
    ),
    "write": (
        "permission",
        lambda said: dialogs.write({"file_path": "/w/notes.txt", "content": f"{said}\n1. x\n"}),
    ),
    "edit": (
        "permission",
        lambda said: dialogs.edit(
            {"file_path": "/w/notes.txt", "old_string": said, "new_string": "2. y"}
        ),
    ),
    "fetch": (
        "permission",
        lambda said: dialogs.fetch({"url": "https://example.org/x", "prompt": said}),
    ),
    "mcp tool": ("permission", lambda said: dialogs.mcp("forms", said.split()[0], WORK)),
    "plan": ("plan", lambda said: dialogs.plan(f"{PLAN_TEXT}\n{said}\n")),
    "plan mode": ("plan", lambda said: dialogs.leave_plan_mode()),
    "trust": ("trust", lambda said: dialogs.trust(WORK, "numbered")[0]),
    "trust, reversed": ("trust", lambda said: dialogs.trust(WORK, "reversed")[0]),
    "bypass": ("bypass", lambda said: dialogs.bypass()),
    "key": ("api-key", lambda said: dialogs.key("0123456789abcdef")),
    "server": ("mcp", lambda said: dialogs.server("forms")),
}


def seen(rows: list[str], columns: int, cli: str = "claude") -> AgentDialog | None:
    """The dialog that a pane of that width shows."""
    return read_dialog(ScreenFrame.from_capture("\n".join(rows).encode(), columns), RULES[cli])


def labels(dialog: AgentDialog | None) -> list[str]:
    """Its options' labels."""
    return [] if dialog is None else [option.label for option in dialog.options]


class WidthTests(SynchronousTestCase):
    """Any width that a pane has; any length of what is asked about."""

    def check(self, cli: str, kind: str, choice: ChoiceList, columns: int) -> None:
        for number in range(len(choice.options)):
            choice.selected = number
            dialog = seen([*BANNER, "", *choice.rows(columns)], columns, cli)
            self.assertEqual(list(choice.options), labels(dialog))
            assert dialog is not None
            self.assertEqual(kind, str(dialog.kind))
            assert dialog.selected_option is not None
            self.assertEqual(number + 1, dialog.selected_option.n)

    @SETTINGS
    @given(st.sampled_from(sorted(CLAUDE)), WIDTHS, WORDS)
    def test_claude_dialog_is_read_at_any_width(
        self, name: str, columns: int, words: list[str]
    ) -> None:
        kind, make = CLAUDE[name]
        self.check("claude", kind, make(" ".join(words)), columns)

    @SETTINGS
    @given(WIDTHS, WORDS)
    def test_codex_dialogs_are_read_at_any_width(self, columns: int, words: list[str]) -> None:
        """Its second label quotes the whole command."""
        assert CODEX.approval is not None
        assert CODEX.trust is not None
        said = " ".join(words)[:200]
        self.check("codex", "permission", CODEX.approval(said, columns), columns)
        self.check("codex", "trust", CODEX.trust(WORK, columns)[0], columns)

    @SETTINGS
    @given(WIDTHS, WORDS)
    def test_gemini_dialogs_are_read_at_any_width(self, columns: int, words: list[str]) -> None:
        assert GEMINI.approval is not None
        assert GEMINI.writing is not None
        assert GEMINI.trust is not None
        said = " ".join(words)
        self.check("gemini", "permission", GEMINI.approval(said, columns), columns)
        self.check("gemini", "permission", GEMINI.writing("a.txt", f"{said}\n"), columns)
        self.check("gemini", "trust", GEMINI.trust(WORK, columns)[0], columns)

    @SETTINGS
    @given(WIDTHS)
    def test_question_pages_are_read_at_any_width(self, columns: int) -> None:
        single = QuestionsDialog([QuestionPage.of(SINGLE)])
        dialog = seen(single.rows(columns), columns)
        wanted = [label for label, _ in single.pages[0].options]
        self.assertEqual(wanted, labels(dialog)[:3])
        assert dialog is not None
        self.assertEqual(("question", SINGLE["question"]), (dialog.kind, dialog.question))
        several = QuestionsDialog([QuestionPage.of(SINGLE), QuestionPage.of(MULTIPLE)])
        several.press([TypedText("2")])
        several.press([TypedText("3")])
        dialog = seen(several.rows(columns), columns)
        assert dialog is not None
        ticked = [option.n for option in dialog.options if option.checked]
        self.assertEqual(("multi", [3]), (dialog.page, ticked))
        several.press([KeyPress("right")])
        dialog = seen(several.rows(columns), columns)
        assert dialog is not None
        self.assertEqual(("review", ["Submit answers", "Cancel"]), (dialog.page, labels(dialog)))


COLOURS = st.sampled_from(["1", "2", "22", "7", "27", "31", "38;5;244", "38;2;9;8;7", "39", "0"])
IDLE = [each for each in load() if each.label.state == "idle" and each.label.composer]
ASKED = [each for each in load() if each.label.dialog is not None]
SHARED = ("claude", "gemini", "qwen", "cn", "pi")
"""These draw below what was said before, so that a quotation can stand above their composer."""


def told(reading: ScreenReading) -> tuple[object, ...]:
    """What matters of a reading."""
    dialog = reading.dialog
    shown = () if dialog is None else (dialog.kind, dialog.options, dialog.frame_hash)
    return reading.state, reading.composer_ready, shown


def looked(recording: ScreenRecording, capture: bytes) -> tuple[object, ...]:
    """What is read where the recording shows C{capture} instead."""
    frame = ScreenFrame.from_capture(capture, recording.label.size[0])
    return told(read_screen(frame, recording.label.title, RULES[recording.cli]))


class PerturbedLookTests(SynchronousTestCase):
    """What is the same to a person is the same to the rules."""

    @SETTINGS
    @given(st.sampled_from([each for each in load() if each.cli != "opencode"]), st.data())
    def test_recording_in_other_colours_reads_the_same(
        self, recording: ScreenRecording, data: st.DataObject
    ) -> None:
        """Only opencode tells its highlight by colour alone."""
        rows = recording.plain.decode().split("\n")
        painted = [f"\x1b[{data.draw(COLOURS)}m{row}\x1b[0m" if row else row for row in rows]
        self.assertEqual(
            looked(recording, recording.plain), looked(recording, "\n".join(painted).encode())
        )

    @SETTINGS
    @given(st.sampled_from(load()), st.integers(0, 30))
    def test_blank_rows_below_a_recording_read_the_same(
        self, recording: ScreenRecording, count: int
    ) -> None:
        more = recording.best.rstrip(b"\n") + b"\n" * (count + 1)
        self.assertEqual(looked(recording, recording.best), looked(recording, more))

    @SETTINGS
    @given(st.sampled_from([each for each in ASKED if each.cli == "claude"]))
    def test_ascii_markers_read_the_same(self, recording: ScreenRecording) -> None:
        """Where a terminal cannot draw it, the marker is an ASCII one."""
        plain = recording.plain.decode()
        ascii_ = re.sub("❯(?= )", ">", plain)
        self.assertEqual(looked(recording, plain.encode()), looked(recording, ascii_.encode()))


class QuotedDialogTests(SynchronousTestCase):
    """A dialog in an answer, a file or a diff is none."""

    def quote(self, quoted: ScreenRecording, lead: str) -> bytes:
        rows = quoted.plain.decode().rstrip("\n").split("\n")[-24:]
        return "".join(f"{lead}{row}\n" for row in rows).encode()

    @settings(SETTINGS, max_examples=example_count(200))
    @given(
        st.sampled_from([each for each in IDLE if each.cli in SHARED]),
        st.sampled_from(ASKED),
        st.sampled_from(["", "  ", "● ", "  + ", "> ", "│ ", "    12 "]),
    )
    def test_dialog_quoted_above_a_composer_is_none(
        self, recording: ScreenRecording, quoted: ScreenRecording, lead: str
    ) -> None:
        alone = looked(recording, recording.plain)
        capture = self.quote(quoted, lead) + b"\n" + recording.plain
        self.assertEqual(alone, looked(recording, capture))

    @SETTINGS
    @given(st.sampled_from(ASKED), st.sampled_from(["  + ", "    12 ", "● ", "// "]))
    def test_dialog_in_a_file_at_the_screen_end_is_none(
        self, quoted: ScreenRecording, lead: str
    ) -> None:
        """No composer is there: a pager, or a client that is just drawing."""
        for cli in ("claude", "codex", "gemini"):
            rules = RULES[cli]
            frame = ScreenFrame.from_capture(b"$ git diff\n\n" + self.quote(quoted, lead), 120)
            self.assertIsNone(read_dialog(frame, rules))
