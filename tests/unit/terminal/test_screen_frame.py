"""Frames are read from captures with and without colours."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.frames import load
from tests.non_empty import require_items
from tservice.terminal.screen_frame import PARAMETERS, SEQUENCES, RunStyle, ScreenFrame, StyledRun


class FrameCaptureTests(SynchronousTestCase):
    def test_captured_rows_lose_trailing_blanks(self) -> None:
        """Blanks at the end go, no-break spaces stay, the last line feed makes no row."""
        frame = ScreenFrame.from_capture("a  \n❯\u00a0\n\n".encode())
        self.assertEqual(("a", "❯\u00a0", ""), frame.rows)
        self.assertEqual((1, 2), (frame.last_row, frame.cols))

    def test_styles_carry_over_rows(self) -> None:
        """Runs tell where which style is; it is carried over to the next row."""
        frame = ScreenFrame.from_capture(b"a\x1b[1;48;5;215mb\nc\x1b[0md\n")
        lit = RunStyle(background="48;5;215", bold=True)
        self.assertEqual((StyledRun(0, 1, RunStyle()), StyledRun(1, 2, lit)), frame.runs[0])
        self.assertEqual((StyledRun(0, 1, lit), StyledRun(1, 2, RunStyle())), frame.runs[1])
        self.assertEqual(frozenset({lit}), frame.get_styles(0, 1, 2))

    def test_capture_reads_all_kinds_of_colours(self) -> None:
        """16, 256 and 24-bit colours, with semicolons or colons, and their ends."""
        for codes, style in {
            "31": RunStyle(foreground="31"),
            "97;104": RunStyle(foreground="97", background="104"),
            "38;2;1;2;3;7": RunStyle(foreground="38;2;1;2;3", reverse=True),
            "48:5:9": RunStyle(background="48;5;9"),
            "31;39;41;49": RunStyle(),
            "1;2;22": RunStyle(),
            "7;27": RunStyle(),
            "3;4;9": RunStyle(),
            "31;": RunStyle(),
            "38;5": RunStyle(foreground="38;5"),
        }.items():
            self.assertEqual(style, RunStyle().apply_sgr(codes), codes)

    def test_frame_with_too_many_colour_changes_is_read_without_colours(self) -> None:
        """A frame that changes them for each cell is read without any."""
        row = b"\x1b[31mx\x1b[32my" * 250
        few, many = row + b"\n", (row + b"\n") * (SEQUENCES // 500 + 1)
        self.assertEqual(500, len(ScreenFrame.from_capture(few).runs[0]))
        frame = ScreenFrame.from_capture(many)
        self.assertEqual({"xy" * 250}, set(frame.rows))
        self.assertEqual({()}, set(frame.runs))

    def test_overlong_parameter_list_is_ignored(self) -> None:
        frame = ScreenFrame.from_capture(b"\x1b[" + b"1;" * PARAMETERS + b"1mx\n")
        self.assertEqual((("x",), (StyledRun(0, 1, RunStyle()),)), (frame.rows, frame.runs[0]))

    def test_endless_style_sequence_is_applied_in_bounded_time(self) -> None:
        """Tmux writes a dozen codes at most; C{bench/hostile.py} measures half a million."""
        self.assertEqual(RunStyle(bold=True), RunStyle().apply_sgr("1;" * 500_000 + "0;1"))

    def test_capture_translates_line_drawing_and_drops_link_addresses(self) -> None:
        """Shifted line drawing becomes lines; a link's address is no text."""
        frame = ScreenFrame.from_capture(b"\x0elqk\x0f \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n")
        self.assertEqual(("┌─┐ link",), frame.rows)

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
    @given(st.binary(max_size=200) | st.text("a\x1b[];0135789m\n\x0e\x0f│─", max_size=60))
    def test_any_capture_is_read_without_error(self, capture: bytes | str) -> None:
        """No capture makes it fail, and runs cover what they name."""
        data = capture if isinstance(capture, bytes) else capture.encode()
        frame = ScreenFrame.from_capture(data)
        self.assertEqual(len(frame.rows), len(frame.runs))
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
