"""Tests for L{tservice.client.terminal}: what may reach a terminal, and the detach keys."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import termios
import tty
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.waiting import PATIENCE
from tservice.client.errors import Unusable
from tservice.client.link.stream import OutputReceived, ProcessEnded, TerminalConnection
from tservice.client.terminal.filter import RESTORE, OutputFilter
from tservice.client.terminal.follow import follow_stream
from tservice.client.terminal.keys import DETACH, DetachKeyFinder, parse_keys
from tservice.client.terminal.raw import restore_terminal
from tservice.client.terminal.safe import safe_json, safe_line, safe_text
from tservice.client.terminal.tables import count_columns, format_table

ROOT = Path(__file__).resolve().parents[3]
QUESTIONS = (
    b"\x1b[c", b"\x1b[>c", b"\x1b[=c", b"\x1b[0c", b"\x1b[5n", b"\x1b[6n", b"\x1b[?6n", b"\x1b[>0q",
    b"\x1b[?u", b"\x1b[?2004$p", b"\x1b[4$p", b"\x1b[18t", b"\x1b[21t", b"\x1b[1x", b"\x1bZ",
    b"\x1b[?4m", b"\x1b[?1;1;0S", b"\x1b[1$w", b"\x1b[1;1;1;1;2;2*y", b"\x1b[1;1;2;2#|", b"\x1b['|",
    b"\x1b[&u", b'\x1b["v', b"\x1b[#S", b"\x05", b"\x1bP$qm\x1b\\", b"\x1bP+q544e\x1b\\",
    b"\x1b]10;?\x07", b"\x1b]4;1;?\x1b\\",
)  # fmt: skip
BEYOND = (
    b"\x1b]52;c;ZXZpbA==\x07", b"\x1b]0;title\x07", b"\x1b]2;title\x1b\\", b"\x1b]11;#fff\x07",
    b"\x1b]1337;x\x07", b"\x1b_Gi=1\x1b\\", b"\x1bktitle\x1b\\", b"\x1b[>1u", b"\x1b[=1u",
    b"\x1b[<u", b"\x1b[>4;2m", b"\xc2\x9b6n", b"\x1b[22;0t",
    b"\x1b[?9001h", b"\x1b[2h", b"\x1b[20h", b"\x1b[5i", b"\x1b[?9h", b"\x1b[?1001h", b"\x1b[?69h",
    b"\x1b[?2048h", b"\x1b[?25;2h", b"\x1b[?1000s", b"\x1b[?1000r", b"\x1b G", b"\x1b%@", b"\x1b`",
)  # fmt: skip
SPLIT = (
    (b"\x1b\n]52;c;ZXZpbA==\x07", b"\n]52;c;ZXZpbA==\x07"), (b"\x1b\x00[6n", b"\x00[6n"),
    (b"\x1b[6\nn", b"\nn"), (b"\x1b[?9001\rh", b"\rh"), (b"\x1b(\n0", b"\n0"),
    (b"\x1b\x05]2;x\x07", b""), (b"\x1b[6\x05n", b""), (b"\xc2\x05\x9b6n", b"6n"),
    (b"\x1b]8;;a\nb\x07", b""), (b"\x1b]8;;a\x18", b""), (b"\x1b]8;;a\x1b[0m", b"\x1b[0m"),
)  # fmt: skip
"""What a terminal obeys though something stands in its midst, and what is left of it."""
DRAWING = (
    b"\x1b[31;1mred\x1b[0m", b"\x1b[2J\x1b[H", b"\x1b[?1049h", b"\x1b[?25l", b"\x1b[3;9r",
    b"\x1b[2 q", b"\x1b[4h\x1b[4l", b"\x1b[?12;25h", b"\x1b[?1000;1006h", b"\x1b[38:2::1:2:3m",
    b"\x1b[?1l\x1b>", b"\x1b[?J", b"\x1b)0", b"\x1b#8", b"\x1b[5S\x1b[2b", b"\x1b[s\x1b[u",
    b"\x1b(0", b"\x1b[1000X",
    b"\x1b]8;;http://a\x1b\\a\x1b]8;;\x1b\\",
    "äöü\xa0漢字 🙂\r\n\t\x07".encode(), b"\x1b7\x1b8\x1bM\x1bc", b"\x1b[!p",
)  # fmt: skip


class FilterTests(SynchronousTestCase):
    def feed(self, data: bytes, size: int) -> bytes:
        """Also behind it nothing is held back for good."""
        whole = OutputFilter()
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        return b"".join(map(whole.feed, pieces))

    def test_queries_and_effects_beyond_the_screen_are_dropped(self) -> None:
        for sequence in QUESTIONS + BEYOND:
            for size in (1, 2, 3, 100):
                found = self.feed(b"a" + sequence + b"b", size)
                want = b"a6nb" if sequence == b"\xc2\x9b6n" else b"ab"
                self.assertEqual(want, found, (sequence, size))

    def test_eight_bit_controls_become_replacement_marks(self) -> None:
        """Some terminals take a byte of these for ESC and a letter, whatever the encoding."""
        for byte in range(0x80, 0xA0):
            for size in (1, 100):
                found = self.feed(b"a%c6nb" % byte, size)
                self.assertEqual("a\ufffd6nb".encode(), found, (byte, size))
        self.assertEqual("\ufffd]52;c;eA==\x07".encode(), self.feed(b"\xe2\x9d]52;c;eA==\x07", 1))

    def test_links_to_files_and_programs_are_dropped_from_output(self) -> None:
        for scheme in ("file:///etc/passwd", "FILE://h/x", "ssh://h", "vscode://x", "/etc/passwd"):
            sequence = f"\x1b]8;;{scheme}\x1b\\x\x1b]8;;\x1b\\".encode()
            self.assertEqual(b"x\x1b]8;;\x1b\\", self.feed(sequence, 3), scheme)
        for link in ("https://a/b", "http://a", "mailto:a@b"):
            sequence = f"\x1b]8;id=1;{link}\x07x\x1b]8;;\x07".encode()
            self.assertEqual(sequence, self.feed(sequence, 3), link)

    def test_split_sequences_are_filtered(self) -> None:
        for sequence, left in SPLIT:
            for size in (1, 2, 3, 100):
                found = self.feed(b"a" + sequence + b"b", size)
                self.assertEqual(b"a" + left + b"b", found, (sequence, size))

    def test_every_mode_that_may_be_set_is_reset(self) -> None:
        for mode in range(1, 10_000):
            for way in b"hl":
                sequence = b"\x1b[?%d%c" % (mode, way)
                if self.feed(sequence + b".", 100) != b"." and mode not in (47, 1047, 1048):
                    self.assertRegex(RESTORE, rb"\x1b\[\?%d[hl]" % mode)

    def test_drawing_sequences_pass(self) -> None:
        data = b"".join(DRAWING)
        for size in (1, 2, 5, 1000):
            self.assertEqual(data + b".", self.feed(data + b".", size))

    @settings(max_examples=example_count(100), deadline=None)
    @given(st.lists(st.sampled_from([*QUESTIONS, *BEYOND, *DRAWING])), st.integers(1, 30))
    def test_filter_is_independent_of_cuts(self, parts: list[bytes], size: int) -> None:
        data = b"".join(parts) + b"."
        self.assertEqual(self.feed(data, len(data)), self.feed(data, size))


class SafeTests(SynchronousTestCase):
    def test_safe_line_has_no_control_characters(self) -> None:
        self.assertEqual("red a�b�c��d", safe_line("\x1b[31mred\x1b[0m a\tb\nc\x9b\u202ed"))
        self.assertEqual("x", safe_line("\x1b]52;c;AAAA\x07x"))

    def test_safe_text_keeps_line_feeds_and_tabs(self) -> None:
        self.assertEqual("a\n\tb�c", safe_text("a\r\n\tb\x1b[2J\rc"))

    def test_safe_json_escapes_control_characters(self) -> None:
        found = safe_json(json.dumps({"a": "\x9bä\u202e\x1b"}, ensure_ascii=False))
        self.assertEqual('{"a": "\\u009bä\\u202e\\u001b"}', found)
        self.assertEqual({"a": "\x9bä\u202e\x1b"}, json.loads(found))

    @settings(max_examples=example_count(100), deadline=None)
    @given(st.text())
    def test_no_terminal_control_remains(self, text: str) -> None:
        for found in (safe_line(text), safe_text(text).replace("\n", "").replace("\t", "")):
            self.assertEqual([], [c for c in found if c < " " or "\x7f" <= c <= "\x9f"])


class TerminalTableTests(SynchronousTestCase):
    ROWS = (("ID", "NAME", "STATUS"), ("1", "漢字" * 20, "idle"), ("22", "b", "busy"))

    def test_table_fits_the_width(self) -> None:
        for width in (20, 30, 60, 200):
            lines = format_table(self.ROWS, width, colour=False)
            self.assertLessEqual(max(map(count_columns, lines)), width)
            self.assertEqual(width < 95, "…" in lines[1])
        self.assertNotIn("…", "".join(format_table(self.ROWS, None, colour=False)))

    def test_table_columns_are_aligned(self) -> None:
        head, *rows = format_table(self.ROWS, 40, colour=False)
        self.assertEqual({count_columns(head[: head.index("STATUS")])},
                         {count_columns(row[: row.index(word)])
                          for row, word in zip(rows, ("idle", "busy"), strict=True)})  # fmt: skip

    def test_table_colours_are_optional(self) -> None:
        self.assertIn("\x1b[32midle\x1b[0m", format_table(self.ROWS, 80, colour=True)[1])
        self.assertNotIn("\x1b", "".join(format_table(self.ROWS, 80, colour=False)))


class FollowTests(SynchronousTestCase):
    def follow(self, *pieces: bytes, ansi: bool = False) -> str:
        """What is printed of a session's output."""
        events = [*map(OutputReceived, pieces), ProcessEnded(0)]
        stream = SimpleNamespace(
            connect=lambda: None, close=lambda: None, receive_events=lambda: iter(events)
        )
        out = StringIO()
        follow_stream(cast(TerminalConnection, stream), out, self.fail, self.fail, ansi=ansi)
        return out.getvalue()

    def test_redrawn_lines_are_printed_once(self) -> None:
        """As bash draws a line that was pasted into it."""
        drawn = b"\x1b[7mexit\x1b[27m\x08\x08\x08\x08exit\r", b"\nbye\x07\xc3", b"\xa4\r\n"
        self.assertEqual("exitexit\nbyeä\n", self.follow(*drawn))
        self.assertEqual(b"".join(drawn).decode(), self.follow(*drawn, ansi=True))

    def test_terminal_controls_are_printed_as_marks(self) -> None:
        self.assertEqual("a�b�", self.follow(b"a\x05b\xc2\x9b"))


GUARDED = """
import os, signal
from tservice.client.terminal.guard import guard_block
signal.signal(signal.SIGCHLD, signal.{children})
with guard_block((1,), lambda: os.write(1, b"tidied")):
    os.write(1, b"working ")
    {then}
os.write(1, b"done")
"""


class TerminalGuardTests(SynchronousTestCase):
    def run_program(self, children: str, then: str) -> tuple[int, str]:
        """Its exit status, and all that was printed when nobody was left to print."""
        program = GUARDED.format(children=children, then=then)
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE,
            cwd=ROOT, check=False,
        )  # fmt: skip
        self.assertEqual("", ended.stderr)
        return ended.returncode, ended.stdout

    def test_terminal_is_restored_when_the_program_ends(self) -> None:
        for children in ("SIG_DFL", "SIG_IGN"):
            self.assertEqual((0, "working done"), self.run_program(children, "pass"))

    def test_terminal_is_restored_when_the_program_is_killed(self) -> None:
        kill = "os.kill(os.getpid(), signal.SIGKILL)"
        found = self.run_program("SIG_DFL", kill)
        self.assertEqual((-signal.SIGKILL, "working tidied"), found)


class RawTerminalTests(SynchronousTestCase):
    def test_terminal_settings_changed_by_a_shell_are_kept(self) -> None:
        """What comes late, after the program was killed, takes back its own settings alone."""
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        before = termios.tcgetattr(slave)
        tty.setraw(slave, termios.TCSANOW)
        ours = termios.tcgetattr(slave)
        shells = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(slave, termios.TCSANOW, shells)
        restore_terminal(slave, slave, before, only=ours)
        self.assertEqual(shells, termios.tcgetattr(slave))
        termios.tcsetattr(slave, termios.TCSANOW, ours)
        restore_terminal(slave, slave, before, only=ours)
        self.assertEqual(before, termios.tcgetattr(slave))


class DetachKeyTests(SynchronousTestCase):
    def test_detach_keys_are_parsed(self) -> None:
        for text, want in (
            (DETACH, b"\x1cd"), ("C-a d", b"\x01d"), ("^p ^q", b"\x10\x11"), ("ctrl-]", b"\x1d"),
        ):  # fmt: skip
            self.assertEqual(want, parse_keys(text))
        for text in ("", "d", "x y", "Ctrl-a Ctrl-a", "Ctrl-a b c", "Ctrl-ä", "F1"):
            self.assertRaises(Unusable, parse_keys, text)

    def test_detach_sequence_is_recognized_in_pieces(self) -> None:
        for pieces, want in (
            ((b"ab\x1cdrest",), (b"ab", True)),
            ((b"ab\x1c", b"d"), (b"ab", True)),
            ((b"\x1c\x1c",), (b"\x1c", False)),
            ((b"\x1c", b"\x1cd"), (b"\x1cd", False)),
            ((b"\x1cx",), (b"\x1cx", False)),
            ((b"dd",), (b"dd", False)),
        ):
            detacher = DetachKeyFinder(parse_keys(DETACH))
            found = [detacher.split_at_detach_keys(piece) for piece in pieces]
            self.assertEqual(want, (b"".join(text for text, _ in found), found[-1][1]), pieces)

    def test_detach_sequence_may_be_one_key(self) -> None:
        self.assertEqual(
            (b"a", True), DetachKeyFinder(parse_keys("Ctrl-]")).split_at_detach_keys(b"a\x1db")
        )
