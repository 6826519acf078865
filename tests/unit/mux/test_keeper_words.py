"""What is found in a pane's stream, wherever it is cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.tmux.stream_parsers import (
    KeeperMessage,
    KeeperMessageParser,
    ModeTracker,
    TitleDetector,
)

SAID = b"\x1b]7773;abc;exit;3\x07"
CUTS = st.lists(st.integers(0, 60), max_size=8)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    return [
        data[a:b] for a, b in pairwise([0, *sorted(min(c, len(data)) for c in cuts), len(data)])
    ]


class KeeperWordsTests(SynchronousTestCase):
    def test_keeper_word_is_removed_from_the_output(self) -> None:
        got = KeeperMessageParser(b"abc").feed(b"one" + SAID + b"two")
        self.assertEqual([b"one", KeeperMessage("exit", 3), b"two"], got)

    def test_word_with_another_token_is_output(self) -> None:
        data = SAID.replace(b"abc", b"abd")
        self.assertEqual([data], KeeperMessageParser(b"abc").feed(data))

    @settings(max_examples=example_count(100), deadline=None)
    @given(st.binary(max_size=20), st.binary(max_size=20), CUTS)
    def test_keeper_words_are_found_once_at_any_cut(
        self, before: bytes, after: bytes, cuts: list[int]
    ) -> None:
        """No byte of the program is lost; at most the word's own bytes stay."""
        words = KeeperMessageParser(b"abc")
        got = [part for piece in pieces(before + SAID + after, cuts) for part in words.feed(piece)]
        self.assertEqual(
            [KeeperMessage("exit", 3)], [part for part in got if isinstance(part, KeeperMessage)]
        )
        kept = b"".join(part for part in got if isinstance(part, bytes))
        self.assertTrue(kept.startswith(before))
        self.assertTrue(kept.endswith(after))
        self.assertEqual(before + after, kept.replace(SAID, b"") if not cuts else before + after)

    @settings(max_examples=example_count(300), deadline=None)
    @given(st.lists(st.sampled_from([b"\x1b", b"]7773;abc;", b"exit;", b"1", b"\x07", b"x"])), CUTS)
    def test_other_output_passes_unchanged(self, parts: list[bytes], cuts: list[int]) -> None:
        data = b"".join(parts).replace(b"exit;1", b"")
        words = KeeperMessageParser(b"abc")
        got = [part for piece in pieces(data, cuts) for part in words.feed(piece)]
        self.assertEqual(data, b"".join(part for part in got if isinstance(part, bytes)))


class ModeWatchTests(SynchronousTestCase):
    def test_modes_are_set_and_reset(self) -> None:
        watch = ModeTracker()
        self.assertTrue(watch.feed(b"x\x1b[?2004hy"))
        self.assertFalse(watch.feed(b"\x1b[?2004h"))
        self.assertEqual((b"2004", b"\x1b[?2004h"), (watch.stored_value, watch.sequences))
        self.assertTrue(watch.feed(b"\x1b[?25;1004;1049h"))
        self.assertEqual(b"1004;2004", watch.stored_value)
        self.assertTrue(watch.feed(b"\x1b[?2004l"))
        self.assertEqual(b"1004", watch.stored_value)
        self.assertTrue(watch.feed(b"\x1bc"))
        self.assertEqual(b"", watch.stored_value)

    def test_stored_modes_are_restored(self) -> None:
        self.assertEqual(b"1004;2004", ModeTracker(b"2004;1004;9").stored_value)
        self.assertEqual(b"", ModeTracker(b"").stored_value)

    def test_keyboard_protocol_requests_are_followed(self) -> None:
        watch = ModeTracker()
        for data, sequences in (
            (b"\x1b[>4;2m", b"\x1b[>4;2m"),
            (b"\x1b[>5u", b"\x1b[>4;2m\x1b[>5u"),
            (b"\x1b[?2004h", b"\x1b[?2004h\x1b[>4;2m\x1b[>5u"),
            (b"\x1b[?2004l\x1b[>1u\x1b[>1u\x1b[<u\x1b[<1u\x1b[<u", b"\x1b[>4;2m"),
            (b"\x1b[=5u\x1b[=8;2u", b"\x1b[>4;2m\x1b[=5u\x1b[=8;2u"),
            (b"\x1b[>u\x1b[<2u", b"\x1b[>4;2m\x1b[=5u\x1b[=8;2u\x1b[>u\x1b[<2u"),
            (b"\x1b[>4m", b"\x1b[=5u\x1b[=8;2u\x1b[>u\x1b[<2u"),
            (b"\x1bc", b""),
            (b"\x1b[>4;1m\x1b[>1u", b"\x1b[>4;1m\x1b[>1u"),
            (b"\x1b[>4n", b"\x1b[>1u"),
            (b"\x1bc", b""),
        ):
            self.assertTrue(watch.feed(data), data)
            self.assertEqual(sequences, watch.sequences, data)

    def test_keyboard_protocol_stack_is_bounded(self) -> None:
        watch = ModeTracker()
        watch.feed(b"\x1b[>1u" * 100)
        self.assertEqual(b"\x1b[>1u" * 16, watch.sequences)
        self.assertEqual(watch.sequences, ModeTracker(watch.stored_value).sequences)
        # A comma would shift what tmux tells behind it, the title.
        self.assertNotIn(b",", watch.stored_value)

    def test_stored_keyboard_protocol_is_restored(self) -> None:
        watch = ModeTracker()
        watch.feed(b"\x1b[>4;2m\x1b[>5u\x1b[?2004h")
        kept = ModeTracker(watch.stored_value)
        self.assertEqual(b"\x1b[?2004h\x1b[>4;2m\x1b[>5u", kept.sequences)
        kept.feed(b"\x1b[<u")
        self.assertEqual(b"\x1b[?2004h\x1b[>4;2m", kept.sequences)
        for broken in (b"keys", b"keys=", b"keys=/x", b"keys=/>99999u", b"keys=>4;2m/>1u/"):
            self.assertEqual(b"", ModeTracker(broken).stored_value, broken)

    @settings(max_examples=example_count(300), deadline=None)
    @given(CUTS)
    def test_keyboard_protocol_is_followed_at_any_cut(self, cuts: list[int]) -> None:
        watch = ModeTracker()
        data = b"text\x1b[>1u\x1b[>4u more\x1b[<u\x1b[>4;1m\x1b[>9u\x1b[<1u\x1b[m"
        for piece in pieces(data, cuts):
            watch.feed(piece)
        self.assertEqual(b"\x1b[>4;1m\x1b[>1u", watch.sequences)

    @settings(max_examples=example_count(300), deadline=None)
    @given(CUTS)
    def test_modes_are_followed_at_any_cut(self, cuts: list[int]) -> None:
        watch = ModeTracker()
        for piece in pieces(b"text\x1b[m\x1b[?2004h more \x1b[?1004;2004l\x1b[?1004h", cuts):
            watch.feed(piece)
        self.assertEqual(b"1004", watch.stored_value)


class TitleWatchTests(SynchronousTestCase):
    def test_title_change_is_noticed_at_any_cut(self) -> None:
        data = b"a\x1b]0;title\x07b"
        for cut in range(len(data)):
            watch = TitleDetector()
            self.assertTrue(any([watch.feed(data[:cut]), watch.feed(data[cut:])]), cut)

    def test_other_sequences_change_no_title(self) -> None:
        self.assertFalse(TitleDetector().feed(b"\x1b]8;;x\x07\x1b]10;?\x07"))
