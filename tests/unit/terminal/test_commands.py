"""The command of a dialog is read whole, or it is said that it is not (protocol-approvals)."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames import ScreenRecording, load
from tests.frames.score import RULES
from tservice.terminal.dialogs.dialog_questions import ShownCommand
from tservice.terminal.dialogs.dialogs import read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame

ASKED = "Would you like to run the following command?"


def command_of(cli: str, capture: str, cols: int) -> ShownCommand | None:
    dialog = read_dialog(ScreenFrame.from_capture(capture.encode(), cols), RULES[cli])
    return None if dialog is None else dialog.command


def recorded(cli: str, part: str) -> list[ScreenRecording]:
    return [each for each in load() if each.cli == cli and part in each.name]


def codex(*rows: str, above: str = "• Running it") -> str:
    said = "\n".join(f"  {row}" for row in rows)
    return (
        f"{above}\n\n  {ASKED}\n\n  Environment: local\n\n{said}\n\n› 1. Yes, proceed (y)\n"
        "  2. No, and tell Codex what to do differently (esc)\n\n"
        "  Press enter to confirm or esc to cancel"
    )


def gemini(*rows: str) -> str:
    inner = "\n".join(f"│ │ {row:<54} │ │" for row in rows)
    return (
        f"╭{'─' * 60}╮\n│ ? Shell  {rows[0][:49]:<50} │\n│ ╭{'─' * 56}╮ │\n{inner}\n"
        f"│ ╰{'─' * 56}╯ │\n│ {'Allow execution of [Shell]?':<58} │\n│{' ' * 60}│\n"
        f"│ {'● 1. Allow once':<58} │\n│ {'  2. No, suggest changes (esc)':<58} │\n╰{'─' * 60}╯"
    )


class RecordedCommandTests(SynchronousTestCase):
    def test_commands_of_recorded_dialogs_are_read(self) -> None:
        count = 0
        for cli in ("codex", "gemini", "opencode"):
            for each in recorded(cli, "approval"):
                found = command_of(cli, each.best.decode(), each.label.size[0])
                if each.label.dialog is None:
                    self.assertIsNone(found, str(each))
                    continue
                count += 1
                assert found is not None, str(each)
                self.assertTrue(found.text.startswith("touch "), str(each))
                # A sidebar beside the dialog may hide the end of a row.
                self.assertEqual("200x50" not in each.name, found.whole, str(each))
        self.assertGreater(count, 15)

    def test_dialogs_without_a_command_show_none(self) -> None:
        for cli in ("gemini", "opencode"):
            for each in recorded(cli, "write_dialog"):
                self.assertIsNone(command_of(cli, each.best.decode(), each.label.size[0]))


class CodexCommandTests(SynchronousTestCase):
    def read(self, *rows: str, above: str = "• Running it") -> ShownCommand:
        found = command_of("codex", codex(*rows, above=above), 80)
        assert found is not None
        return found

    def test_wrapped_command_is_whole(self) -> None:
        found = self.read("$ echo one two", "three; rm -rf x")
        self.assertEqual(("echo one two\nthree; rm -rf x", True), (found.text, found.whole))

    def test_codex_dialog_that_begins_off_the_screen_is_not_whole(self) -> None:
        self.assertFalse(self.read("$ touch made", above="").whole)

    def test_command_that_draws_a_dialog_is_not_whole(self) -> None:
        drawn = ("rm -rf ~; cat <<X", "", ASKED, "", "$ touch made")
        found = command_of("codex", codex(*drawn, above="  rm -rf ~"), 80)
        self.assertFalse(found is not None and found.whole)
        # With the true beginning in view all of it is shown.
        shown = self.read(f"$ {drawn[0]}", *drawn[1:])
        self.assertFalse(shown.whole and not shown.text.startswith("rm -rf"))

    def test_omitted_rows_make_a_codex_command_incomplete(self) -> None:
        for mark in ("[… 12 lines] ctrl + a view all", "… +3 lines", "echo aaaa…"):
            self.assertFalse(self.read("$ echo", mark).whole, mark)


class GeminiCommandTests(SynchronousTestCase):
    def test_wrapped_command_is_whole(self) -> None:
        found = command_of("gemini", gemini("echo one two", "three; rm -rf x"), 64)
        self.assertEqual(ShownCommand(text="echo one two\nthree; rm -rf x", whole=True), found)

    def test_omitted_rows_make_a_gemini_command_incomplete(self) -> None:
        rows = ("... first 12 lines hidden (Ctrl+O to show) ...", "touch made")
        found = command_of("gemini", gemini(*rows), 64)
        self.assertFalse(found is None or found.whole)

    def test_gemini_command_that_draws_a_box_is_shown_with_it(self) -> None:
        found = command_of("gemini", gemini("rm -rf x", "╭──╮", "touch made", "╰──╯"), 64)
        self.assertTrue(found is not None and found.text.startswith("rm -rf x"))

    def test_gemini_dialog_with_its_top_off_the_screen_is_not_read(self) -> None:
        cut = gemini("touch made").partition("\n")[2]
        self.assertIsNone(command_of("gemini", cut, 64))


class OpencodeCommandTests(SynchronousTestCase):
    def read(self, *rows: str, above: str = "  done\n\n") -> ShownCommand | None:
        shown = recorded("opencode", "80x24_approval")[0]
        start = shown.best.decode().split("\n")
        at = next(n for n, row in enumerate(start) if "Permission required" in row)
        last = next(n for n, row in enumerate(start) if "$ touch made" in row and n > at)
        body = [*start[at - 1 : last], *(f"  ┃  {row}" for row in rows), *start[last + 1 :]]
        return command_of("opencode", above + "\n".join(body), 80)

    def test_short_opencode_command_is_complete(self) -> None:
        self.assertEqual(
            ShownCommand(text="echo one\necho two", whole=True),
            self.read("$ echo one", "echo two"),
        )

    def test_long_command_may_go_on_below(self) -> None:
        found = self.read("$ echo one", *(f"echo {n}" for n in range(6)))
        self.assertFalse(found is None or found.whole)

    def test_dialog_at_the_top_of_the_screen_is_not_whole(self) -> None:
        found = self.read("$ touch made", above="")
        self.assertFalse(found is not None and found.whole)

    def test_opencode_dialog_next_to_another_column_is_not_whole(self) -> None:
        found = self.read("$ touch made" + " " * 40 + "Context")
        self.assertFalse(found is not None and found.whole)
