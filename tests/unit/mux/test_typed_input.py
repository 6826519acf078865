"""Pieces of a write, and text that may be pasted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.interface import InputMark
from tservice.mux.typed_input import PIECE, sanitize_paste, split_input


class PiecesTests(SynchronousTestCase):
    @settings(max_examples=example_count(200), deadline=None)
    @given(st.integers(0, 3500), st.integers(0, 4000))
    def test_pieces_neither_repeat_nor_omit_text(self, size: int, done: int) -> None:
        data = bytes(index % 251 for index in range(size))
        got = list(split_input(data, InputMark(id="a", done=done)))
        self.assertEqual(data[done:], b"".join(piece for piece, _ in got))
        self.assertTrue(all(len(piece) <= PIECE for piece, _ in got))
        at = min(done, size)
        for piece, mark in got:
            at += len(piece)
            self.assertEqual(InputMark(id="a", done=at), mark)

    def test_empty_write_still_has_its_mark(self) -> None:
        self.assertEqual([(b"", InputMark(id="a"))], list(split_input(b"", InputMark(id="a"))))

    def test_write_without_a_mark_has_no_mark(self) -> None:
        self.assertEqual([(b"ab", None)], list(split_input(b"ab", None)))


class PasteTests(SynchronousTestCase):
    def test_pasted_control_characters_are_removed(self) -> None:
        self.assertEqual(b"a[201~\tb\nc", sanitize_paste("a\x1b[201~\tb\nc\x00\x7f\x9b"))

    def test_pasted_line_ends_become_line_feeds(self) -> None:
        self.assertEqual(b"a\nb\nc\n\n", sanitize_paste("a\r\nb\rc\n\r"))

    @settings(max_examples=example_count(300), deadline=None)
    @given(st.text(st.characters(codec=None), max_size=40))
    def test_any_pasted_text_is_encoded(self, text: str) -> None:
        """A lone surrogate is no reason to fail."""
        out = sanitize_paste(text).decode()
        self.assertFalse([char for char in out if ord(char) < 32 and char not in "\t\n"])
