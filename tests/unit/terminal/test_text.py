"""Plain rows, the tail of a text, searching."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.terminal.frames.ansi import plain_text
from tservice.terminal.line_search import TEXT_LIMIT, TextOccurrence, search_lines
from tservice.terminal.text_tail import NEAR, keep_tail


class PlainTests(SynchronousTestCase):
    """L{plain_text}."""

    def test_styles_are_removed_from_rows(self) -> None:
        for row, want in [
            (b"\x1b[1;31mred\x1b[0m  ", "red"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b]0;title\x07a", "a"),
            (b"\x1b(Ba\x1b7b", "ab"),
            (b"\x1b(0l\x1b[1mqk\x1b(B x", "┌─┐ x"),
            (b"\x1b(0q", "─"),
            ("❯\xa0hi".encode(), "❯\xa0hi"),
            (b"\xffa", "\ufffda"),
        ]:
            self.assertEqual(want, plain_text(row), row)


class KeepTailTests(SynchronousTestCase):
    """L{keep_tail}."""

    def test_kept_tail_begins_at_a_row_start(self) -> None:
        self.assertEqual("cd\nef", keep_tail("ab\ncd\nef", 6))
        self.assertEqual("cd\nef", keep_tail("ab\ncd\nef", 5))
        self.assertEqual("ef", keep_tail("ab\ncd\nef", 4))
        self.assertEqual("short", keep_tail("short", 5))

    def test_single_long_row_is_cut_in_the_middle(self) -> None:
        self.assertEqual("x" * 5000, keep_tail("x" * 9000, 5000))

    def test_tail_never_begins_inside_an_escape_sequence(self) -> None:
        text = "a\x1b[38;5;200m" + "x" * (NEAR + 10)
        for size in range(NEAR + 10, len(text)):
            self.assertEqual("x" * (NEAR + 10), keep_tail(text, size)[-(NEAR + 10) :])
            self.assertNotIn("200m", keep_tail(text, size).removeprefix("\x1b[38;5;200m"))

    @given(st.text("ab\n\x1b[0;1m", max_size=60), st.integers(1, 70))
    def test_tail_is_a_suffix_within_the_size(self, text: str, size: int) -> None:
        kept = keep_tail(text, size)
        self.assertLessEqual(len(kept), size)
        self.assertTrue(text.endswith(kept))


class TextSearchTests(SynchronousTestCase):
    """L{search_lines}."""

    def test_search_finds_every_occurrence_in_order(self) -> None:
        found, more = search_lines(["a.b a.b", "axb", "A.B"], "a.b", 10)
        self.assertEqual([TextOccurrence(0, "a.b a.b", 0), TextOccurrence(0, "a.b a.b", 4)], found)
        self.assertFalse(more)

    def test_search_ignores_case_on_request(self) -> None:
        found, _ = search_lines(["A.B", "Straße"], "a.b", 10, nocase=True)
        self.assertEqual([TextOccurrence(0, "A.B", 0)], found)

    def test_search_stops_at_the_limit(self) -> None:
        self.assertEqual(([TextOccurrence(0, "aa", 0)], True), search_lines(["aa"], "a", 1))
        self.assertEqual(
            (2, False), (len(search_lines(["aa"], "a", 2)[0]), search_lines(["aa"], "a", 2)[1])
        )

    def test_long_rows_are_shown_in_part_around_the_match(self) -> None:
        (match,), _ = search_lines(["x" * 5000 + "y"], "y", 5)
        self.assertEqual((5000, TEXT_LIMIT), (match.offset, len(match.text)))
        self.assertEqual("y", match.text[match.offset - (match.start or 0) :])

    def test_excerpt_of_a_long_line_contains_the_match(self) -> None:
        line = "a" * 3000 + "needle" + "b" * 3000
        (match,), _ = search_lines([line], "needle", 5)
        assert match.start is not None
        self.assertEqual(line[match.start :][:TEXT_LIMIT], match.text)
        self.assertEqual(line.index("needle"), match.offset)
        self.assertIn("needle", match.text)
