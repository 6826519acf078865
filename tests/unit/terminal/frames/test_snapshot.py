"""A capture put into another terminal gives the same screen, history, modes and caret."""

from __future__ import annotations

import pyte
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.fakes.multiplexer.grid import FakeGrid
from tservice.terminal.frames.sgr import SgrState, make_self_contained
from tservice.terminal.frames.snapshot import build_snapshot, build_snapshot_text, move_to_caret

COLS, ROWS, HISTORY = 12, 4, 50


@frozen(kw_only=True)
class FramePicture:
    """A frame for the rules."""

    lines: tuple[bytes, ...]
    history: int = 0
    cols: int = COLS
    rows: int = ROWS
    cursor_x: int = 0
    cursor_y: int = 0
    alternate_screen: bool = False
    modes: bytes = b""
    finish: bytes = b""
    wrapped: frozenset[int] = frozenset()
    main: tuple[bytes, ...] = ()
    main_wrapped: frozenset[int] = frozenset()
    main_cursor: tuple[int, int] = (0, 0)


def picture(grid: FakeGrid) -> FramePicture:
    state = grid.get_state()
    return FramePicture(
        lines=grid.get_rows(state.history_size),
        history=state.history_size,
        wrapped=grid.find_wrapped_rows(state.history_size),
        cursor_x=state.cursor_x,
        cursor_y=state.cursor_y,
        alternate_screen=state.alternate_screen,
        modes=state.modes,
    )


def drawn(data: bytes) -> FakeGrid:
    grid = FakeGrid(COLS, ROWS, HISTORY)
    grid.feed(data)
    return grid


CHANGES = (b" 0 1 22 31 39 38;5;4 38;2;1;2;3 38;2;9;9;9 48;5;9 49 7 27 0;1;31 4:3 4:0 38;5").split(
    b" "
)
PIECES = st.one_of(
    st.text("abc é", min_size=1, max_size=20).map(str.encode),
    st.sampled_from(
        [
            b"\r\n",
            b"\r\n\r\n\r\n",
            b"\x1b[1;31m",
            b"\x1b[0m",
            b"\x1b[48;5;4m",
            b"\x1b[38;2;1;2;3m",
            b"\x1b[7m",
            b"\x1b[2;3H",
            b"\x1b[H",
            b"\x1b[K",
            b"\x1b[2J",
            b"\x1b[?1049h",
            b"\x1b[?1049l",
            b"\x1b[?25l",
            b"\x1b[?2004h",
            b"\x1b[?1h",
            b"\x1b[?1000h\x1b[?1006h",
        ]
    ),
)


class SnapshotTests(SynchronousTestCase):
    """L{build_snapshot}."""

    @settings(max_examples=example_count(400), deadline=None, database=None)
    @given(st.lists(PIECES, max_size=25).map(b"".join))
    def test_snapshot_redraws_the_same_screen(self, data: bytes) -> None:
        before = picture(drawn(data))
        after = picture(drawn(build_snapshot(before)))
        self.assertEqual(before, after)

    def test_background_colour_does_not_run_into_the_next_row(self) -> None:
        """A terminal that scrolls with a colour in force paints the whole new row."""
        frame = FramePicture(lines=(b"\x1b[44mab", b"cd\x1b[0m", b"", b""), rows=4)
        rows = build_snapshot(frame).split(b"\r\n")
        self.assertTrue(rows[0].endswith(b"ab\x1b[0m"), rows)
        self.assertTrue(rows[1].startswith(b"\x1b[44mcd"), rows)

    def test_caret_after_the_last_column_wraps_the_next_character(self) -> None:
        full = b"x" * COLS
        frame = FramePicture(lines=(b"", full, b"", b""), cursor_x=COLS, cursor_y=1)
        screen = pyte.Screen(COLS, ROWS)
        pyte.ByteStream(screen).feed(build_snapshot(frame) + b"y")
        self.assertEqual([" " * COLS, full.decode(), "y" + " " * (COLS - 1)], screen.display[:3])

    def test_wrapped_line_is_written_as_one_line(self) -> None:
        """The terminal wraps it again, and knows that these rows are one line."""
        rows = (b"x" * COLS, b"\x1b[31m" + b"y" * COLS, b"z\x1b[0m", b"next")
        frame = FramePicture(lines=rows, wrapped=frozenset({0, 1}))
        grid = drawn(build_snapshot(frame))
        self.assertEqual(frozenset({0, 1}), grid.find_wrapped_rows(0))
        self.assertEqual(drawn(b"\r\n".join(rows)).get_rows(0), grid.get_rows(0))

    def test_wrapped_history_line_may_continue_on_the_screen(self) -> None:
        frame = FramePicture(
            lines=(b"x" * COLS, b"y", b"", b"", b""), history=1, wrapped=frozenset({0})
        )
        grid = drawn(build_snapshot(frame))
        self.assertEqual(frozenset({0}), grid.find_wrapped_rows(1))
        self.assertEqual((b"x" * COLS, b"y"), grid.get_rows(1)[:2])

    def test_history_line_continues_below_the_alternate_screen(self) -> None:
        frame = FramePicture(
            lines=(b"x" * COLS, b"vi", b"", b"", b""),
            history=1,
            wrapped=frozenset({0}),
            alternate_screen=True,
            modes=b"\x1b[?1049h",
            main=(b"y" * COLS, b"z", b"", b""),
            main_wrapped=frozenset({0}),
        )
        grid = drawn(build_snapshot(frame))
        self.assertEqual(b"vi", grid.get_rows(0)[0])
        grid.feed(b"\x1b[?1049l")
        self.assertEqual((b"x" * COLS, b"y" * COLS, b"z"), grid.get_rows(1)[:3])
        # As tmux does, the terminal forgot that the history goes on there.
        self.assertEqual(frozenset({1}), grid.find_wrapped_rows(1))

    def test_background_does_not_extend_after_a_wrapped_line(self) -> None:
        """A terminal paints the row that it scrolls in for the rest of a coloured line."""
        ground = b"\x1b[44m"
        for rows, end in (
            ((ground + b"x" * COLS, b"y\x1b[0m"), b"\x1b[0m\x1b[K"),
            ((ground + b"x" * COLS, b"y" * COLS + b"\x1b[0m"), b"\x1b[0m"),
            ((ground + "日".encode() * (COLS // 2), "本\x1b[0m".encode()), b"\x1b[0m\x1b[K"),
            ((b"\x1b[34m" + b"x" * COLS, b"y\x1b[0m"), b"\x1b[0m"),
        ):
            frame = FramePicture(lines=(*rows, b"", b""), wrapped=frozenset({0}))
            line = build_snapshot(frame).split(b"\r\n")[0]
            self.assertEqual(end, line[line.rindex(b"\x1b[0m") :], rows)

    def test_screen_begins_without_the_style_of_the_history(self) -> None:
        frame = FramePicture(lines=(b"\x1b[31mred", b"plain", b"", b"", b""), history=1)
        self.assertIn(b"\x1b[31mred\x1b[0m\r\nplain", build_snapshot(frame))

    def test_main_screen_is_restored_below_the_alternate_screen(self) -> None:
        main = (b"$ vi", b"\x1b[32mok", b"", b"")
        frame = FramePicture(
            lines=(b"old", b"vi shows", b"", b"", b""),
            history=1,
            alternate_screen=True,
            modes=b"\x1b[?1049h\x1b[?1h",
            main=main,
            main_cursor=(2, 1),
        )
        grid = drawn(build_snapshot(frame))
        self.assertEqual((b"old", b"vi shows"), grid.get_rows(1)[:2])
        grid.feed(b"\x1b[?1049l")
        self.assertEqual((b"old", b"$ vi", b"\x1b[0;32mok\x1b[0m"), grid.get_rows(1)[:3])
        self.assertEqual((2, 1), (grid.get_state().cursor_x, grid.get_state().cursor_y))

    def test_modes_and_cursor_are_written_last(self) -> None:
        frame = FramePicture(
            lines=(b"", b"", b"", b""), finish=b"\x1b[2;3r\x1b[1;1H", modes=b"\x1b[?1h"
        )
        self.assertTrue(build_snapshot(frame).endswith(b"\x1b[?1h\x1b[2;3r\x1b[1;1H"))

    def test_snapshot_keeps_line_drawing(self) -> None:
        screen = pyte.Screen(COLS, ROWS)
        stream = pyte.ByteStream(screen)
        stream.select_other_charset("@")
        stream.feed(build_snapshot(FramePicture(lines=(b"\x1b(0qq", b"q\x1b(B|", b"", b""))))
        self.assertEqual(["──", "─|"], [row.strip() for row in screen.display[:2]])

    def test_snapshot_text_of_invalid_bytes_does_not_fail(self) -> None:
        frame = FramePicture(lines=(b"\xff\xfe", b"", b"", b""))
        self.assertIn("\ufffd\ufffd", build_snapshot_text(frame))


class CaretTests(SynchronousTestCase):
    """L{move_to_caret}."""

    @given(st.integers(0, COLS), st.integers(0, ROWS - 1), st.integers(0, 3))
    def test_relative_caret_is_right_in_a_taller_terminal(self, x: int, y: int, above: int) -> None:
        frame = FramePicture(lines=(b"a", b"bb", b"c" * COLS, b"d"), cursor_x=x, cursor_y=y)
        screen = pyte.Screen(COLS, ROWS + above)
        text = b"\r\n" * above + b"\r\n".join(frame.lines) + move_to_caret(frame)
        pyte.ByteStream(screen).feed(text)
        self.assertEqual((min(x, COLS - 1), y + above), (screen.cursor.x, screen.cursor.y))
        self.assertNotIn(b"H", move_to_caret(evolve(frame, cursor_y=0)))


class SgrStateTests(SynchronousTestCase):
    """L{SgrState}."""

    @given(st.lists(st.sampled_from(CHANGES), max_size=12))
    def test_style_of_a_row_equals_its_changes_applied_one_by_one(
        self, changes: list[bytes]
    ) -> None:
        """Also where most of them are passed over, because others come behind them."""
        sequences = [b"\x1b[%bm" % change for change in changes]
        one_by_one, row = SgrState(), SgrState()
        for sequence in sequences:
            one_by_one.feed(sequence)
        row.feed(b"x".join(sequences))
        self.assertEqual(one_by_one._parts, row._parts)

    def style(self, row: bytes) -> bytes:
        style = SgrState()
        style.feed(row)
        return style.build_opening()

    def test_style_in_force_is_tracked(self) -> None:
        for row, want in [
            (b"plain", b""),
            (b"\x1b[1;31m", b"\x1b[1;31m"),
            (b"\x1b[1m\x1b[22m", b""),
            (b"\x1b[31m\x1b[32m", b"\x1b[32m"),
            (b"\x1b[38;5;200m\x1b[48;2;1;2;3m", b"\x1b[38;5;200;48;2;1;2;3m"),
            (b"\x1b[38;5;200;1m\x1b[39m", b"\x1b[1m"),
            (b"\x1b[4:3m", b"\x1b[4:3m"),
            (b"\x1b[4m\x1b[4:0m", b""),
            (b"\x1b[31m\x1b[m", b""),
            (b"\x1b[38;5m", b"\x1b[38;5;0m"),
            (b"\x1b(0q", b"\x1b(0"),
            (b"\x1b(0q\x1b(B", b""),
            (b"\x1b]8;;http://x\x1b\\a", b"\x1b]8;;http://x\x1b\\"),
            (b"\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\", b""),
        ]:
            self.assertEqual(want, self.style(row), row)

    def test_style_state_of_a_long_stream_stays_small(self) -> None:
        style = SgrState()
        for colour in range(5000):
            style.feed(b"\x1b[38;5;%dm\x1b[%dm" % (colour % 256, 1 + colour % 9))
        self.assertLess(len(style.build_opening()), 60)

    def test_style_parameters_of_any_length_are_accepted(self) -> None:
        """What stands in tmux's place may send them; Python reads 4,300 digits and no more."""
        for digits in (256, 257, 5000):
            row = b"\x1b[" + b"9" * digits + b"m\x1b[31ma"
            self.assertTrue([*make_self_contained([row, b"b"])][1].startswith(b"\x1b[31mb"), digits)

    def test_rows_are_self_contained(self) -> None:
        rows = list(make_self_contained([b"\x1b[31ma", b"b", b"c\x1b[0md"]))
        self.assertEqual([b"\x1b[31ma\x1b[0m", b"\x1b[31mb\x1b[0m", b"\x1b[31mc\x1b[0md"], rows)
