"""A literal text is found in the stream wherever it is cut."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.terminal.stream_cuts import cut_pieces
from tservice.terminal.frames.ansi import strip_escapes
from tservice.terminal.stream_matcher import (
    CONTEXT,
    NEEDLE_MAX,
    TAIL,
    NeedleMatch,
    SearchNeedle,
    StreamMatcher,
    take_tail,
)

LETTERS = "aAbBsSßẞiIİı\u0307éÉσςΣﬁ❯ "
TEXTS = st.text(LETTERS, max_size=60)
STREAMS = st.lists(
    TEXTS.map(str.encode)
    | st.sampled_from([b"\x1b[31m", b"\x1b(B", b"\x1b]0;a\x07", b"\xff", b"\xc3", b"\n"]),
    max_size=12,
).map(b"".join)


def naive(text: str, needle: str, nocase: bool) -> NeedleMatch | None:
    """Fold the whole text character by character, remembering where each part came from."""
    folded = [(c, i) for i, ch in enumerate(text) for c in (ch.casefold() if nocase else ch)]
    wanted = needle.casefold() if nocase else needle
    at = "".join(c for c, _ in folded).find(wanted)
    if at < 0:
        return None
    start, stop = folded[at][1], folded[at + len(wanted) - 1][1] + 1
    return NeedleMatch(text[start:stop], text[max(0, start - 80) : start], text[stop : stop + 80])


def feed(data: bytes, cuts: list[int], needle: SearchNeedle) -> NeedleMatch | None:
    """What a matcher says to C{data} cut at the given places."""
    matcher = StreamMatcher(needle)
    return next(filter(None, (matcher.feed(piece) for piece in cut_pieces(data, cuts))), None)


class NeedleTests(SynchronousTestCase):
    def test_needle_length_is_1_to_200_characters(self) -> None:
        """1 to 200 characters (protocol-wait-output), counted as characters, not bytes."""
        self.assertRaises(ValueError, SearchNeedle, "")
        self.assertRaises(ValueError, SearchNeedle, "x" * (NEEDLE_MAX + 1))
        wide = "❯" * NEEDLE_MAX
        self.assertEqual(NeedleMatch(wide, "a", "b"), SearchNeedle(wide).find_match(f"a{wide}b"))

    def test_match_is_case_sensitive_by_default(self) -> None:
        """Without nocase only the same casing matches."""
        self.assertIsNone(SearchNeedle("done").find_match("DONE"))
        self.assertEqual(
            NeedleMatch("DoNe", "", "!"), SearchNeedle("dONE", nocase=True).find_match("DoNe!")
        )

    def test_snippet_keeps_casing(self) -> None:
        """Folding is for the comparison only (protocol-wait-output)."""
        match = SearchNeedle("straße", nocase=True).find_match("Die STRASSE Ist")
        self.assertEqual(NeedleMatch("STRASSE", "Die ", " Ist"), match)
        match = SearchNeedle("STRASSE", nocase=True).find_match("Die Straße Ist")
        self.assertEqual(NeedleMatch("Straße", "Die ", " Ist"), match)

    def test_characters_that_grow_when_folded_keep_match_offsets(self) -> None:
        """Characters that fold to several do not move what stands behind them."""
        match = SearchNeedle("x", nocase=True).find_match("İİßßﬁX!")
        self.assertEqual(NeedleMatch("X", "İİßßﬁ", "!"), match)

    def test_match_inside_a_folded_character_takes_it_whole(self) -> None:
        """A needle that ends inside a folded character takes the whole of it."""
        self.assertEqual(NeedleMatch("ß", "", ""), SearchNeedle("S", nocase=True).find_match("ß"))
        self.assertEqual(
            NeedleMatch("asß", "", "b"), SearchNeedle("ASS", nocase=True).find_match("asßb")
        )

    def test_snippet_is_bounded(self) -> None:
        """80 characters on either side (protocol-wait-output)."""
        match = SearchNeedle("needle").find_match("a" * 500 + "needle" + "b" * 500)
        assert match is not None
        self.assertEqual("a" * CONTEXT + "needle" + "b" * CONTEXT, match.snippet)


class StreamMatcherTests(SynchronousTestCase):
    def test_colours_inside_the_needle_are_ignored(self) -> None:
        """Escape sequences between its characters do not hide it."""
        match = feed(b"x DO\x1b[31mNE\x1b(B y", [], SearchNeedle("DONE"))
        self.assertEqual(NeedleMatch("DONE", "x ", " y"), match)

    def test_character_cut_between_chunks_matches(self) -> None:
        """A character whose bytes come in two chunks is one character."""
        data = "ab❯cd".encode()
        for cut in range(len(data)):
            match = feed(data, [cut], SearchNeedle("b❯c"))
            assert match is not None
            self.assertEqual(("b❯c", "a"), (match.text, match.before))

    def test_match_is_reported_with_its_completing_chunk(self) -> None:
        """A match is told with the chunk that completes it, not later."""
        matcher = StreamMatcher(SearchNeedle("done"))
        self.assertIsNone(matcher.feed(b"all do"))
        self.assertEqual(NeedleMatch("done", "all ", "!"), matcher.feed(b"ne!"))

    def test_text_before_a_match_reaches_over_chunks(self) -> None:
        """The snippet's left side does not stop at a chunk's edge."""
        matcher = StreamMatcher(SearchNeedle("done"))
        for _ in range(100):
            self.assertIsNone(matcher.feed(b"12345"))
        match = matcher.feed(b"done")
        assert match is not None
        self.assertEqual("12345" * 16, match.before)

    @settings(max_examples=example_count(500), deadline=None)
    @given(
        STREAMS,
        st.lists(st.integers(0, 10_000), max_size=6),
        st.text(LETTERS, min_size=1, max_size=4),
        st.booleans(),
    )
    @example("ß".encode(), [1], "s", True)
    @example("İ".encode(), [], "\u0307", True)
    @example(b"a\xc3", [1], "\ufffd", False)
    def test_chunked_match_agrees_with_the_whole_text(
        self, data: bytes, cuts: list[int], needle: str, nocase: bool
    ) -> None:
        """Cut anywhere, the answer is that of a plain search in the whole text."""
        # A character that never got its last byte is not there yet.
        text = strip_escapes(data).decode("utf-8", "replace")
        if strip_escapes(data)[-1:] == b"\xc3":
            text = text[:-1]
        wanted = naive(text, needle, nocase)
        found = feed(data, cuts, SearchNeedle(needle, nocase))
        if wanted is None or found is None:
            self.assertEqual(wanted, found)
            return
        self.assertEqual((wanted.text, wanted.before), (found.text, found.before))
        self.assertTrue(wanted.after.startswith(found.after), (wanted, found))

    @settings(max_examples=example_count(100), deadline=None)
    @given(STREAMS, st.text(LETTERS, min_size=1, max_size=4), st.booleans())
    def test_match_in_one_chunk_agrees_with_a_naive_search(
        self, data: bytes, needle: str, nocase: bool
    ) -> None:
        """In one chunk everything that follows is there."""
        text = strip_escapes(data).decode("utf-8", "replace")
        if strip_escapes(data)[-1:] == b"\xc3":
            text = text[:-1]
        self.assertEqual(naive(text, needle, nocase), feed(data, [], SearchNeedle(needle, nocase)))


class MatchTailTests(SynchronousTestCase):
    def test_tail_is_bounded_to_256_kb(self) -> None:
        """At most 256 KB of the buffer are looked at (protocol-wait-output)."""
        self.assertEqual(b"b" * TAIL, take_tail(b"a" * 10 + b"b" * TAIL))
        self.assertEqual(b"abc", take_tail(b"abc"))
        self.assertEqual(b"", take_tail(b""))

    def test_tail_begins_with_a_whole_character(self) -> None:
        """A character that the bound cuts in two is left out whole."""
        data = "❯".encode() + b"b" * (TAIL - 1)
        self.assertEqual(b"b" * (TAIL - 1), take_tail(data))
