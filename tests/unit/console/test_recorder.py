"""Screens of a CLI on a person's machine, recorded without the person's secrets."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from twisted.trial.unittest import SynchronousTestCase

from tests.frames import load
from tests.frames.import_recording import UnknownRecording, import_recording
from tests.waiting import PATIENCE
from tservice.console import screen_recorder
from tservice.console.main import run_command_line
from tservice.console.redaction import find_secret_values, redact_capture
from tservice.console.screen_recorder import RecordedScreen, ScreenCollector, parse_capture
from tservice.console.terminal import Terminal

SECRET = "sk-ant-0123456789abcdef0123"
SCREENS = [
    "80 24|⠋ agy\n⠋ Working 1s\n\x1b[32m> key\x1b[39m " + SECRET + "\n",
    "80 24|⠙ agy\n⠙ Working 2s\n\x1b[32m> key\x1b[39m " + SECRET + "\n",
    "80 24|agy\n> done, ann@example.org\n",
]


class RedactionTests(SynchronousTestCase):
    """Secrets go, the layout stays."""

    def redact(self, capture: str, *values: str) -> str:
        found = redact_capture(capture, values)
        self.assertEqual(len(capture), len(found))
        return found

    def test_keys_of_providers_are_replaced(self) -> None:
        for secret in (
            SECRET,
            "sk-proj-abcdefghijklmnop",
            "ghp_abcdefghijklmnop0123",
            "github_pat_11ABCDEFG0abcdefghij",
            "xoxb-1234567890-abcdef",
            "AIzaSyA0123456789abcdefghijkl",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
            "ann.b@mail.example.org",
            "ABCD-1234",
            "0123456789abcdef0123456789abcdef",
        ):
            self.assertEqual(f"a {'x' * len(secret)} b", self.redact(f"a {secret} b"), secret)
        self.assertEqual(
            "https://h/x?xxxxxxxxxxxxxx", self.redact("https://h/x?code=0123456789"[:26])
        )

    def test_escape_sequences_inside_a_secret_stay(self) -> None:
        shown = f"\x1b[31m{SECRET[:9]}\x1b[32m{SECRET[9:]}\x1b[39m"
        found = self.redact(shown)
        self.assertNotIn(SECRET[9:], found)
        self.assertEqual(3, found.count("\x1b["))

    def test_secret_that_ends_in_the_next_row_is_replaced(self) -> None:
        found = self.redact(f"│ {SECRET} │\n│ restofit and more │\n")
        self.assertEqual(f"│ {'x' * len(SECRET)} │\n│ xxxxxxxx and more │\n", found)

    def test_known_value_is_found_across_rows_and_borders(self) -> None:
        found = self.redact("│ the pass │\n│ word-of-me │ here\n", "password-of-me")
        self.assertEqual("│ the xxxx │\n│ xxxxxxxxxx │ here\n", found)

    def test_ordinary_text_stays(self) -> None:
        text = "› 1. Yes, allow once\n  key-value pairs, task-1234, v1.0.102 (2s · ↓ 9 tokens)\n"
        self.assertEqual(text, self.redact(text))

    def test_values_of_variables_that_sound_secret_are_known(self) -> None:
        environ = {"OPENAI_API_KEY": "plain-word", "MY_TOKEN": "abc", "EDITOR": "emacs-nox"}
        names = ("anna", "me", "")
        self.assertEqual(("plain-word", "anna"), find_secret_values(environ, names))


class CollectorTests(SynchronousTestCase):
    """Different screens only, and not too many."""

    def test_moving_signs_make_no_other_screen(self) -> None:
        collector = ScreenCollector()
        for output in SCREENS:
            screen = parse_capture(output)
            assert screen is not None
            collector.add(screen)
        self.assertEqual(["⠋ agy", "agy"], [each.title for each in collector.screens])

    def test_number_and_size_of_screens_are_bounded(self) -> None:
        collector = ScreenCollector()
        for number in range(screen_recorder.SCREENS + 5):
            text = "a" * (number + 1)
            collector.add(RecordedScreen(title="", size=(80, 24), ansi=text))
        self.assertEqual(screen_recorder.SCREENS, len(collector.screens))
        small = ScreenCollector()
        huge = "a" * (screen_recorder.SCREEN_CHARS + 1)
        small.add(RecordedScreen(title="", size=(80, 24), ansi=huge))
        self.assertEqual([], small.screens)

    def test_pane_that_is_gone_is_no_screen(self) -> None:
        self.assertIsNone(parse_capture("no server running\n"))


class RecordingTests(SynchronousTestCase):
    """C{tservice doctor --record} without tmux, and the tests that come of it."""

    def setUp(self) -> None:
        self.home = Path(self.mktemp()).absolute()
        self.bin = self.home / "bin"
        self.bin.mkdir(parents=True)
        for name in ("agy", "tmux"):
            (self.bin / name).write_text("#!/bin/sh\n")
            (self.bin / name).chmod(0o755)
        self.calls: list[str] = []
        self.seen, self.captures = Event(), iter(SCREENS)
        self.out, self.error = io.StringIO(), io.StringIO()

    def run_program(self, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.calls.append(" ".join(argv))
        told = "1.2.3\n" if "--version" in argv else ""
        if "capture-pane" in argv:
            told = next(self.captures, "")
            if not told:
                self.seen.set()
        return subprocess.CompletedProcess(list(argv), 0, told, "")

    def attach(self, argv: Sequence[str]) -> int:
        self.assertTrue(self.seen.wait(PATIENCE))
        return 0

    def call(self, *words: str) -> int:
        terminal = Terminal(
            environ={"PATH": str(self.bin), "AGY_TOKEN": "done, "},
            home=self.home,
            out=self.out,
            error=self.error,
            run=self.run_program,
            replace=self.attach,
        )
        return run_command_line(["doctor", *words], terminal)

    def record(self) -> Path:
        file = self.home / "found.json"
        self.assertEqual(0, self.call("--record", "antigravity", "--output", str(file)))
        return file

    def test_recording_has_the_screens_without_secrets(self) -> None:
        file = self.record()
        self.assertEqual(0o600, file.stat().st_mode & 0o777)
        text = file.read_text()
        self.assertNotIn(SECRET, text)
        self.assertNotIn("ann@example.org", text)
        found = json.loads(text)
        self.assertEqual(("antigravity", "1.2.3", 2), (
            found["cli"], found["version"], len(found["screens"])))  # fmt: skip
        self.assertIn("2 screens are in", self.out.getvalue())
        self.assertTrue(any("kill-server" in call for call in self.calls))

    def test_recording_becomes_screens_to_label(self) -> None:
        root = self.home / "frames"
        files = import_recording(self.record(), "agy", "first", root)
        self.assertEqual(5, len(files))
        with self.assertRaisesRegex(ValueError, "state"):
            load(root)
        labels = files[-1].read_text().replace('"?"', "unknown")
        files[-1].write_text(labels)
        self.assertEqual(["⠋ agy", "agy"], [each.label.title for each in load(root)])
        with self.assertRaises(FileExistsError):
            import_recording(self.home / "found.json", "agy", "first", root)

    def test_unknown_format_is_refused(self) -> None:
        file = self.home / "other.json"
        file.write_text('{"format": 2}')
        with self.assertRaises(UnknownRecording):
            import_recording(file, "agy", "first", self.home / "frames")

    def test_program_that_is_not_installed_is_named(self) -> None:
        self.assertEqual(2, self.call("--record", "codex"))
        self.assertIn("codex: not found on PATH", self.error.getvalue())

    def test_program_without_a_screen_writes_nothing(self) -> None:
        self.captures = iter(())
        file = self.home / "none.json"
        self.assertEqual(2, self.call("--record", "agy", "--output", str(file)))
        self.assertFalse(file.exists())
