"""Frames are read from captures with and without colours."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.frames import load
from tests.non_empty import require_items
from tservice.terminal.frames.cell_styles import CellStyle
from tservice.terminal.frames.screen_frame import ScreenFrame


class FrameCaptureTests(SynchronousTestCase):
    def test_captured_rows_lose_trailing_blanks(self) -> None:
        """Blanks at the end go, no-break spaces stay, the last line feed makes no row."""
        frame = ScreenFrame.from_capture("a  \n❯\u00a0\n\n".encode())
        self.assertEqual(("a", "❯\u00a0", ""), frame.rows)
        self.assertEqual((1, 2), (frame.last_row, frame.cols))

    def test_styles_carry_over_rows(self) -> None:
        frame = ScreenFrame.from_capture(b"a\x1b[1;48;5;215mb\nc\x1b[0md\n")
        lit = CellStyle(background="ffaf5f", bold=True)
        self.assertEqual(
            [{CellStyle()}, {lit}, {lit}, {CellStyle()}, {lit, CellStyle()}],
            [
                frame.get_styles(*at)
                for at in ((0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 2), (1, 0, 2))
            ],
        )

    def test_capture_translates_line_drawing_and_drops_link_addresses(self) -> None:
        """A pane writes ESC ( 0 into its capture where tmux writes SO."""
        frame = ScreenFrame.from_capture(
            b"\x1b(0l\x1b[7mqk\x1b(B \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"
        )
        self.assertEqual(("┌─┐ link",), frame.rows)
        lit = CellStyle(reverse=True)
        self.assertEqual({lit}, frame.get_styles(0, 1, 8))
        self.assertEqual({CellStyle()}, frame.get_styles(0, 0, 1))

    def test_line_drawing_continues_over_rows(self) -> None:
        """Tmux writes no second SO where the cell before, in the row above, has that set too."""
        frame = ScreenFrame.from_capture(b"\x1b(0lqk\nx x\nmqj\x1b(B\nx\n")
        self.assertEqual(("┌─┐", "│ │", "└─┘", "x"), frame.rows)

    def test_invalid_utf8_is_replaced(self) -> None:
        """Bytes that are no text do not stop the reading."""
        self.assertEqual(("a\ufffdb",), ScreenFrame.from_capture(b"a\xffb").rows)

    def test_recordings_agree_with_their_plain_text(self) -> None:
        """Both captures of one moment have the same rows."""
        for recording in require_items(load()):
            # A running turn moves on between two captures.
            if recording.ansi is not None and recording.label.state != "working":
                frames = map(ScreenFrame.from_capture, (recording.plain, recording.ansi))
                plain, coloured = (each.rows[: each.last_row + 1] for each in frames)
                self.assertEqual(plain, coloured, recording)

    @settings(max_examples=example_count(100), deadline=None)
    @given(
        st.binary(max_size=200) | st.text("a\x1b[]():;0135789m\n\0\t\x9b\x9d²\ufe0f│─", max_size=60)
    )
    def test_any_capture_is_read_without_error(self, capture: bytes | str) -> None:
        """Each character of a text has one style."""
        data = capture if isinstance(capture, bytes) else capture.encode()
        frame = ScreenFrame.from_capture(data)
        for at, row in enumerate(frame.rows):
            found = [len(frame.get_styles(at, i, i + 1)) for i in range(len(row))]
            if isinstance(capture, str):
                self.assertEqual([1] * len(row), found)
        self.assertEqual(len(frame.rows), len(frame.inner_rows))
        self.assertNotIn("\x1b[", "".join(frame.rows))


class FrameShapeTests(SynchronousTestCase):
    def test_rule_rows_are_recognized(self) -> None:
        """A line across, also with a name in it; no table, no dashes of prose."""
        rows = ("─" * 20, "  ━━━━━━━━━━", "──── name of it ──", "---------", "─── ───", "├────┤")
        frame = ScreenFrame.from_capture("\n".join(rows).encode())
        self.assertEqual([True, True, True, False, False, False], [*map(frame.is_rule, range(6))])

    def test_padding_rows_of_coloured_boxes_are_empty(self) -> None:
        """Rows of half blocks hold nothing."""
        frame = ScreenFrame.from_capture("▄▄▄▄\n > a\n▀▀▀▀".encode())
        self.assertEqual(([1], 1), (frame.find_filled_rows(0, 3), frame.last_row))

    def test_nested_box_borders_are_removed(self) -> None:
        frame = ScreenFrame.from_capture("││ a │b│ │\n│││x││││\n│\n a │\n┃║│".encode())
        self.assertEqual(("   a │b", "   x│", "", " a │", ""), frame.inner_rows)

    def test_box_borders_and_scrollbar_are_removed_and_columns_stay(self) -> None:
        """Borders of boxes in boxes go, columns stay; a scrollbar goes."""
        frame = ScreenFrame.from_capture("│ │ a b │  │\n  ┃ c\nd     ┃\ne ┃ f".encode())
        self.assertEqual(("    a b", "    c", "d", "e ┃ f"), frame.inner_rows)
        edges = ScreenFrame.from_capture("╭──╮\n└──┘\n╰─ x".encode())
        self.assertEqual([True, True, False], [*map(edges.is_edge, range(3))])
