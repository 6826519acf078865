"""Rows as the versions of tmux print them, read alike (architecture-tmux)."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.interface import PaneCapture
from tservice.mux.outputlog import OutputLog
from tservice.mux.row_wrapping import find_wrapped_rows
from tservice.mux.tmux import capture as module
from tservice.mux.tmux.capture import capture_pane
from tservice.mux.tmux.commands import Version
from tservice.mux.tmux.control_parser import LINE_COST, AnswerBlock

ROWS = (b"above", b"$ ls ", b"\x1b[44m x ", b"\x1b[0m", b"y")
"""Of the grid: one above a screen of four."""
BLANK = b"   "


class PlayedTmux:
    """Answers as a tmux of that version does.

    @ivar asked: the commands.
    @ivar prints: a row before each answer.
    @ivar wrapped: which of C{rows} go on in the next one.
    """

    def __init__(self, version: Version, *, dead: bool = False) -> None:
        self.version, self.dead = version, dead
        self.asked: list[bytes] = []
        self.prints = False
        self.wrapped: set[int] = set()
        self.rows = [*ROWS, b"Pane is dead (status 7)"] if dead and version < (3, 3) else [*ROWS]

    async def send(self, line: bytes, answers: int) -> list[AnswerBlock]:
        commands = line.split(b" ; ")
        assert len(commands) == answers
        self.asked += commands
        if self.prints:
            self.rows.append(b"new")
        return [self.answer(words.split()) for words in commands]

    def answer(self, words: list[bytes]) -> AnswerBlock:
        lines: tuple[bytes, ...] = ()
        if words[0] == b"display-message":
            name = b"%d.%d" % self.version
            history = len(self.rows) - 4
            state = b"%d,,,1,80,4,%d,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,1,0,3,1,t,,%b,title"
            lines = (state % (self.dead, history, name),)
        elif b"-a" not in words:
            at = words.index(b"-S")
            joined = b"-J" in words
            first = -len(self.rows) if words[at + 1] == b"-" else int(words[at + 1])
            lines = self.shown(first, words[at + 3], b"-T" in words, joined)
        size = sum(len(line) + LINE_COST for line in lines)
        return AnswerBlock(1, 1, True, True, lines, size=size)

    def shown(self, first: int, last: bytes, written: bool, joined: bool) -> tuple[bytes, ...]:
        top = len(self.rows) - 4
        start = max(0, top + first)
        end = len(self.rows) if last == b"-" else top + int(last) + 1
        filled = self.version < (3, 3) or (self.version >= (3, 4) and not (written or joined))
        found: list[bytes] = []
        for at, row in enumerate(self.rows[start:end], start):
            text = row + BLANK if filled else row
            if joined and at - 1 in self.wrapped and found:
                found[-1] += text
            else:
                found.append(text)
        return tuple(found)


class CaptureCase(SynchronousTestCase):
    """Reads what a L{PlayedTmux} shows."""

    def read(self, tmux: PlayedTmux, history: int | None, *, quiet: bool = False) -> PaneCapture:
        log = OutputLog(1 << 20, "e")
        work = capture_pane(tmux.send, log, history, b"", quiet, tmux.version)
        found: Any = self.successResultOf(Deferred.fromCoroutine(work))
        assert isinstance(found, PaneCapture)
        return found


class CaptureReadingTests(CaptureCase):
    """L{capture_pane}."""

    def test_capture_returns_written_rows_in_every_tmux_version(self) -> None:
        for version in ((3, 3), (3, 4), (3, 5)):
            tmux = PlayedTmux(version)
            found = self.read(tmux, 10)
            self.assertEqual((ROWS, 1), (found.lines, found.history), version)

    def test_visible_blanks_stay_before_tmux_3_3(self) -> None:
        """What a colour could show is left; blanks that were typed go with the others."""
        found = self.read(PlayedTmux((3, 2)), 10)
        coloured = (b"\x1b[44m x " + BLANK, b"\x1b[0m" + BLANK)
        self.assertEqual((b"above", b"$ ls", *coloured, b"y"), found.lines)

    def test_death_notice_of_tmux_is_left_out(self) -> None:
        for version in ((3, 2), (3, 3)):
            found = self.read(PlayedTmux(version, dead=True), 10)
            self.assertEqual((1, b"above", b"y"), (found.history, found.lines[0], found.lines[-1]))
            self.assertEqual(1, found.history_size)
            found = self.read(PlayedTmux(version, dead=True), 0)
            self.assertEqual((4, 0), (len(found.lines), found.history))
            self.assertIn(b"$ ls", found.lines[0])


class WrapTests(CaptureCase):
    """L{capture_pane}, of rows that were wrapped."""

    def setUp(self) -> None:
        self.tmux = PlayedTmux((3, 3))
        full = b"x" * 80
        self.tmux.rows = [full, full, b"end", full, full, b"on", b"next"]
        self.tmux.wrapped = {0, 1, 3, 4}

    def test_history_is_joined_into_lines_and_the_screen_kept_in_rows(self) -> None:
        found = self.read(self.tmux, None)
        full = b"x" * 80
        self.assertEqual((full + full + b"end", full, full, b"on", b"next"), found.lines)
        self.assertEqual((1, 3, 3), (found.history, found.history_rows, found.history_size))
        self.assertEqual(frozenset({1, 2}), found.wrapped)

    def test_line_continues_from_the_history_into_the_screen(self) -> None:
        self.tmux.rows.append(b"later")
        found = self.read(self.tmux, 2)
        full = b"x" * 80
        self.assertEqual((2, 2), (found.history, found.history_rows))
        self.assertEqual((b"end", full, full, b"on"), found.lines[:4])
        self.assertEqual(frozenset({1, 2}), found.wrapped)

    def test_line_continues_over_capture_pages(self) -> None:
        self.patch(module, "AT_ONCE", 2)
        self.patch(module, "PAGE", 8)
        self.tmux.rows = [b"%080d" % number for number in range(34)]
        self.tmux.wrapped = set(range(30))
        found = self.read(self.tmux, None, quiet=True)
        self.assertEqual((30, 30), (found.history_rows, found.history_size))
        self.assertEqual(frozenset(range(found.history)), found.wrapped)
        text = b"".join(found.lines[: found.history + 1]).replace(b"\x1b[m\x1b(B", b"")
        self.assertEqual(b"".join(self.tmux.rows[:31]), text)


class WrappedRowsTests(SynchronousTestCase):
    """L{find_wrapped_rows}: what is printed one by one, beside what is printed joined."""

    def test_wrapped_rows_are_found_by_comparison(self) -> None:
        full, wide = b"x" * 10, "日本語日x".encode()
        for rows, lines, want in (
            ((b"a", b"b"), (b"a", b"b"), ()),
            ((full, b"b"), (full + b"b",), (0,)),
            ((full, b"b"), (full, b"b"), ()),
            ((full, full, b"b", b""), (full + full + b"b", b""), (0, 1)),
            ((b"\x1b[31m" + full, b"b"), (b"\x1b[31m" + full + b"b",), (0,)),
            # It was emptied since: nothing goes on there, and no row is taken for another.
            ((full, b"", b"b"), (full, b"b"), ()),
            ((full, b"", b"b"), (full + b"b",), ()),
            ((full, b"", full, b"c"), (full, full + b"c"), (2,)),
            ((full, b""), (full,), ()),
            ((b"", b""), (b"", b""), ()),
            # A wide character did not fit; and what stands in its place now would.
            ((wide, "本".encode()), (wide + "本".encode(),), (0,)),
            ((wide, b"x"), (wide + b"x",), ()),
            # Rows of a screen that was narrower.
            ((b"short", b"b"), (b"shortb",), ()),
            # Not the same rows.
            ((full, b"b"), (full + b"c",), (0,)),
            ((full, b"b"), (full + b"bcd",), ()),
        ):
            self.assertEqual(frozenset(want), find_wrapped_rows(rows, lines, 10), (rows, lines))


class LongHistoryTests(CaptureCase):
    """L{capture_pane}, of a history for which there is no room."""

    def setUp(self) -> None:
        self.patch(module, "AT_ONCE", 2)
        self.patch(module, "PAGE", 8)
        self.patch(module, "HISTORY_SIZE", 21 * (LINE_COST + 3))
        self.tmux = PlayedTmux((3, 3))
        self.tmux.rows = [b"%03d" % number for number in range(100)]

    def test_newest_history_is_kept(self) -> None:
        for quiet in (True, False):
            for history in (None, 50):
                found = self.read(self.tmux, history, quiet=quiet)
                self.assertEqual((21, 96), (found.history_rows, found.history_size))
                rows = [row.removeprefix(b"\x1b[m\x1b(B") for row in found.lines]
                self.assertEqual(self.tmux.rows[-25:], rows)

    def test_history_is_requested_in_bounded_pages(self) -> None:
        """Tmux itself would hold it all, and do nothing else meanwhile."""
        self.tmux.prints = True
        found = self.read(self.tmux, None, quiet=True)
        self.assertEqual(21, found.history)
        asked = [int(words.split()[-3]) for words in self.tmux.asked if b" -S -" in words]
        # The last two ask for lines and, with the row below it, for the last one.
        self.assertEqual([-21, -1], asked[-2:])

    def test_history_within_the_bound_is_whole(self) -> None:
        found = self.read(self.tmux, 20, quiet=True)
        self.assertEqual(20, found.history)

    def test_row_larger_than_the_bound_ends_the_history(self) -> None:
        self.tmux.rows[-5] = b"x" * 10_000
        self.assertEqual(0, self.read(self.tmux, None, quiet=True).history)
