"""What programs ask of their terminal's modes, and what they are told."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.mode_queries import (
    MOST,
    ModeQuery,
    ModeQueryDetector,
    build_mode_reply,
    needs_reply,
)

ASK = b"a\x1b[?25$pb\x1b[4$p\x1b[?2004$p"
WANTED = [(True, 25), (False, 4), (True, 2004)]


def ask(mode: int, *, private: bool = True) -> ModeQuery:
    return ModeQuery(private, mode, 0)


def answer(
    mode: int,
    *flags: str,
    private: bool = True,
    watched: tuple[int, ...] = (),
    before: bytes = b"",
    since: bytes = b"",
) -> bytes:
    return build_mode_reply(ask(mode, private=private), flags, watched, before, since)


class QuestionWatchTests(SynchronousTestCase):
    def found(self, *pieces: bytes) -> list[tuple[bool, int]]:
        watch = ModeQueryDetector()
        return [(q.private, q.mode) for piece in pieces for q in watch.feed(piece)]

    @given(st.lists(st.integers(0, len(ASK)), max_size=8))
    def test_questions_are_found_once_at_any_cut(self, cuts: list[int]) -> None:
        places = [0, *sorted(cuts), len(ASK)]
        pieces = [ASK[a:b] for a, b in pairwise(places)]
        self.assertEqual(WANTED, self.found(*pieces))

    def test_offset_of_a_question_is_its_end(self) -> None:
        watch = ModeQueryDetector()
        self.assertEqual([], watch.feed(b"x\x1b[?2"))
        (question,) = watch.feed(b"5$pmore")
        self.assertEqual(3, question.at)

    def test_similar_sequences_are_no_questions(self) -> None:
        for text in (b"$p", b"[?25$p", b"\x1b[?25p", b"\x1b[?2$y", b"\x1b[?123456$p", b"\x1b[!p"):
            self.assertEqual([], self.found(text), text)

    def test_questions_in_a_flood_are_bounded(self) -> None:
        self.assertEqual(MOST, len(self.found(b"\x1b[?1$p" * 1000)))


class QuestionReplyTests(SynchronousTestCase):
    def test_modes_known_to_tmux_are_answered(self) -> None:
        self.assertEqual(b"\x1b[?25;1$y", answer(25, "cursor_flag"))
        self.assertEqual(b"\x1b[?25;2$y", answer(25))
        self.assertEqual(b"\x1b[?1049;1$y", answer(1049, "alternate_on"))
        self.assertEqual(b"\x1b[4;1$y", answer(4, "insert_flag", private=False))

    def test_watched_modes_are_answered(self) -> None:
        self.assertEqual(b"\x1b[?2004;1$y", answer(2004, watched=(2004,)))
        self.assertEqual(b"\x1b[?1004;2$y", answer(1004, watched=(2004,)))

    def test_modes_of_the_viewers_are_answered(self) -> None:
        self.assertEqual(b"\x1b[?2026;2$y", answer(2026))
        self.assertEqual(b"\x1b[?2026;1$y", answer(2026, before=b"\x1b[?2026h text"))
        self.assertEqual(b"\x1b[?2026;2$y", answer(2026, before=b"\x1b[?2026h\x1b[?2026l"))
        self.assertEqual(b"\x1b[?12;2$y", answer(12, before=b"\x1b[?12h\x1bc"))

    def test_unknown_modes_are_answered_as_unknown(self) -> None:
        for mode in (0, 5, 2027, 2031, 2048, 99999):
            self.assertEqual(b"\x1b[?%d;0$y" % mode, answer(mode))
        self.assertEqual(b"\x1b[20;0$y", answer(20, private=False))
        self.assertEqual(b"\x1b[?3;4$y", answer(3))

    def test_mode_changes_since_the_question_count(self) -> None:
        """The state is asked for a moment later than the program did."""
        self.assertEqual(b"\x1b[?2004;2$y", answer(2004, watched=(2004,), since=b"\x1b[?1;2004h"))
        self.assertEqual(b"\x1b[?25;1$y", answer(25, since=b"\x1b[?25l"))
        self.assertEqual(b"\x1b[?25;2$y", answer(25, since=b"\x1b[25h"), "another mode")

    def test_questions_answered_by_tmux_itself_are_left_alone(self) -> None:
        for version, ours in (((3, 3), True), ((3, 5), True), ((3, 6), False), ((3, 7), False)):
            self.assertEqual(ours, needs_reply(ask(2004), version))
        self.assertTrue(needs_reply(ask(25), (3, 6)))
        self.assertTrue(needs_reply(ask(4, private=False), (3, 6)))
        self.assertFalse(needs_reply(ask(25), (4, 0)))
