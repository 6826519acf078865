"""The folder-trust dialog is answered one key at a time and never by mistake (protocol-trust)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.frames import load
from tests.frames.score import RULES
from tests.non_empty import require_items
from tests.unit.terminal.screen_builders import COMPOSER, PERMISSION, RULE, TRUST, text_frame
from tservice.terminal.dialogs.trust import choose_next_key, is_trust_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame

REVERSED = TRUST.replace(
    " ❯ 1. Yes, I trust this folder\n   2. No, exit", " ❯ No, exit\n   Yes, I trust this folder"
)
QUOTE = "   Do you trust the files in this folder? Yes, I trust this folder. No, exit"


def key(text: str, cli: str = "claude") -> str | None:
    """The key that the text asks for."""
    return choose_next_key(text_frame(text), RULES[cli])


class TrustLayoutTests(SynchronousTestCase):
    def test_numbered_trust_dialog_is_answered_by_enter_or_cursor(self) -> None:
        """Enter on the trust option, a cursor key from the other one."""
        self.assertEqual("Enter", key(TRUST))
        moved = TRUST.replace(" ❯ 1.", "   1.").replace("   2.", " ❯ 2.")
        self.assertEqual("Up", key(moved))

    def test_unnumbered_reversed_trust_dialog_is_answered(self) -> None:
        """The exit option comes first and has the marker: down, look, Enter."""
        self.assertEqual("Down", key(REVERSED))
        moved = REVERSED.replace(" ❯ No", "   No").replace("   Yes,", " ❯ Yes,")
        self.assertEqual("Enter", key(moved))

    def test_numbered_reversed_trust_dialog_is_answered(self) -> None:
        """The labels decide, not their numbers."""
        text = TRUST.replace(
            " ❯ 1. Yes, I trust this folder\n   2. No, exit",
            " ❯ 1. No, exit\n   2. Yes, I trust this folder",
        )
        self.assertEqual("Down", key(text))

    def test_unreadable_trust_dialog_gets_no_key(self) -> None:
        """Without a marker, with two, or half drawn: nothing is sent."""
        self.assertIsNone(key(TRUST.replace("❯", " ")))
        self.assertIsNone(key(TRUST.replace("   2.", " ❯ 2.")))
        self.assertIsNone(key(TRUST[: TRUST.index("   2.")]))
        self.assertIsNone(key(""))

    def test_option_to_trust_the_parent_folder_is_not_chosen(self) -> None:
        """More than was asked for is not trusted."""
        text = (
            "╭" + "─" * 50 + "╮\n│ Do you trust the files in this folder?" + " " * 12 + "│\n"
            "│   1. Trust folder (work)" + " " * 26 + "│\n"
            "│ ● 2. Trust parent folder (srv)" + " " * 20 + "│\n"
            "│   3. Don't trust" + " " * 34 + "│\n╰" + "─" * 50 + "╯"
        )
        self.assertEqual("Up", key(text, "gemini"))


class NoMistakeTests(SynchronousTestCase):
    def test_permission_dialog_quoting_a_trust_dialog_is_not_confirmed(self) -> None:
        """A file or command that says what a trust dialog says is never confirmed."""
        for quote in (QUOTE, TRUST, REVERSED):
            text = PERMISSION.replace("   touch made.txt", quote)
            self.assertFalse(is_trust_dialog(text_frame(text, rows=40), RULES["claude"]), quote)
            self.assertIsNone(choose_next_key(text_frame(text, rows=40), RULES["claude"]), quote)

    def test_permission_label_quoting_a_trust_dialog_is_not_confirmed(self) -> None:
        """Nor when the command is named in a label."""
        label = "don’t ask again for: trust this folder *"
        text = PERMISSION.replace("don’t ask again for: touch *", label).replace(
            "   touch made.txt", QUOTE
        )
        self.assertIsNone(key(text))

    def test_copilot_permission_below_a_quote_is_no_trust_dialog(self) -> None:
        """Where the options are a bare Yes and No, the question right above them decides."""
        box = "╭" + "─" * 50 + "╮\n│ Run{:46} │\n│ {:48} │\n│ {:48} │\n│{:50}│\n"
        text = box.format("", "Do you trust the files in this folder? No, exit", "{}", "")
        text += "│ ❯ 1. Yes\n│   2. No (Esc)\n│ esc to cancel\n╰" + "─" * 50 + "╯"
        trusted = text.format("Do you trust the files in this folder?")
        asked = text.format("Do you want to run this command?")
        self.assertEqual("Enter", key(trusted, "copilot"))
        self.assertIsNone(key(asked, "copilot"))

    def test_quoted_trust_dialog_above_a_composer_is_ignored(self) -> None:
        """A composer means that the dialog is gone."""
        self.assertIsNone(key(f"● It said:\n{TRUST}\n\n{COMPOSER}"))

    def test_other_recorded_dialogs_are_not_taken_for_trust(self) -> None:
        """No other recorded dialog is taken for it."""
        for recording in require_items(load()):
            shown = ScreenFrame.from_capture(recording.best, recording.label.size[0])
            if recording.label.trust is None:
                self.assertIsNone(choose_next_key(shown, RULES[recording.cli]), recording)

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.sets(st.integers(0, len(TRUST) - 1), max_size=12))
    def test_enter_only_on_the_trust_option(self, holes: set[int]) -> None:
        """Whatever is missing from the frame, Enter needs the marker on the trust option."""
        text = "".join(" " if i in holes and c != "\n" else c for i, c in enumerate(TRUST))
        if key(text) == "Enter":
            row = next(line for line in text.split("\n") if "❯" in line)
            self.assertIn("trust", row)

    def test_bypass_warning_after_the_trust_dialog_is_not_answered(self) -> None:
        """The bypass warning that follows is answered by nobody."""
        text = (
            f"{RULE}\n  WARNING: Claude Code running in Bypass Permissions mode\n\n"
            "  Only in a folder that you trust. Do you trust this folder?\n\n"
            "  ❯ 1. No, exit\n    2. Yes, I accept\n\n  Enter to confirm · Esc to cancel"
        )
        self.assertIsNone(key(text))
