"""Styles of captured characters are what the program set, in bounded time."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.terminal.frames.cell_styles import STYLE_BYTES, CellStyle, read_styles


class CellStyleTests(SynchronousTestCase):
    def read_style(self, sequences: str) -> CellStyle:
        """Return the style of a character after C{sequences}."""
        ((found,),) = read_styles(f"{sequences}x".encode())
        return found

    def test_each_attribute_is_set_and_cleared(self) -> None:
        for codes, style in {
            "31": CellStyle(foreground="red"),
            "97;104": CellStyle(foreground="brightwhite", background="brightblue"),
            "38;2;1;2;3;7": CellStyle(foreground="010203", reverse=True),
            "48;5;9": CellStyle(background="ff0000"),
            "38;5;2;48;2;22;0;2": CellStyle(foreground="00cd00", background="160002"),
            "31;39;41;49": CellStyle(),
            "1;2": CellStyle(bold=True, dim=True),
            "1;2;22": CellStyle(),
            "7;27": CellStyle(),
            "2;0": CellStyle(),
            "3;4;9": CellStyle(),
            "31;": CellStyle(),
            "": CellStyle(),
            "38;5": CellStyle(),
            "38;5;999": CellStyle(),
        }.items():
            self.assertEqual(style, self.read_style(f"\x1b[{codes}m"), codes)

    def test_styles_of_several_sequences_add_up(self) -> None:
        self.assertEqual(
            CellStyle(foreground="green", bold=True, dim=True),
            self.read_style("\x1b[1m\x1b[2m\x1b[32m"),
        )
        self.assertEqual(CellStyle(), self.read_style("\x1b[1m\x1b[2m\x1b[32m\x1b[m"))

    def test_shape_and_colour_of_an_underline_change_nothing_else(self) -> None:
        """The numbers of the colour mean dim and reverse elsewhere."""
        lit = CellStyle(bold=True)
        for codes in ("4:3", "4:0", "58;5;2", "58;5;7", "58;2;2;7;7", "1;4:3", "59"):
            self.assertEqual(lit, self.read_style(f"\x1b[1m\x1b[{codes}m"), codes)

    def test_variation_selector_and_wide_characters_shift_no_style(self) -> None:
        """Rules count characters, not the columns that they take."""
        styles = read_styles("⚠\ufe0f名e\u0301\x1b[7mx\x1b[0my".encode())
        self.assertEqual([[CellStyle()] * 5 + [CellStyle(reverse=True), CellStyle()]], styles)

    def test_row_wider_than_any_screen_does_not_wrap(self) -> None:
        self.assertEqual([1000, 1], [*map(len, read_styles(b"x" * 1000 + b"\ny"))])

    def test_frame_with_too_many_style_changes_is_read_without_styles(self) -> None:
        row = b"\x1b[31mx\x1b[32my" * (STYLE_BYTES // 10)
        self.assertEqual({"red", "green"}, {style.foreground for style in read_styles(row)[0]})
        (styles,) = read_styles(row + b"\x1b[33m\x1b[34mz")
        self.assertEqual((len(row) // 6 + 1, {CellStyle()}), (len(styles), set(styles)))

    def test_overlong_parameter_list_is_ignored(self) -> None:
        self.assertEqual(CellStyle(), self.read_style(f"\x1b[{'1;' * 150}1m"))
        self.assertEqual({CellStyle()}, set(read_styles(b"\x1b[" + b"1;" * 500_000 + b"1mx")[0]))
