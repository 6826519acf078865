"""The played agents' keys, composer, dialogs and engine, without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.choice import ESCAPED, ChoiceList, ChoiceRow
from tests.agents.mock_tui.composer import MockComposer
from tests.agents.mock_tui.engine import (
    AskStep,
    Await,
    GateStep,
    SleepStep,
    TurnEngine,
    TurnInterrupted,
)
from tests.agents.mock_tui.form import MockForm
from tests.agents.mock_tui.keys import Key, KeyDecoder, KeyPress, PastedText, TypedText
from tests.agents.mock_tui.terminal import MockView, ViewPainter, folded

pytestmark = pytest.mark.essential


class MockKeyDecoderTests(SynchronousTestCase):
    def read(self, *reads: bytes) -> list[Key]:
        decoder = KeyDecoder()
        return [key for each in reads for key in decoder.feed(each)]

    def test_decoder_reads_key_names_and_text(self) -> None:
        keys = self.read(b"ab\x1b[B\r\x1bOA\x1b")
        named = [KeyPress("down"), KeyPress("enter"), KeyPress("up"), KeyPress("escape")]
        self.assertEqual([TypedText("ab"), *named], keys)

    def test_paste_over_two_reads_with_a_cut_character(self) -> None:
        text = "\x1b[200~ä\r\nb\tc\x1b[201~".encode()
        self.assertEqual([PastedText("ä\nb    c")], self.read(text[:7], text[7:]))

    def test_end_marker_inside_a_paste_ends_the_paste(self) -> None:
        keys = self.read(b"\x1b[200~one\x1b[201~two\r")
        self.assertEqual([PastedText("one"), TypedText("two"), KeyPress("enter")], keys)

    @given(some.text(alphabet=some.characters(min_codepoint=32, exclude_characters="\x7f")))
    def test_decoder_keeps_typed_text(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        typed = [key.text for key in self.read(data) if isinstance(key, TypedText)]
        self.assertEqual(data.decode(), "".join(typed))


class MockComposerTests(SynchronousTestCase):
    def test_placeholders_are_numbered_and_sent_in_full(self) -> None:
        composer = MockComposer()
        composer.paste("1\n2\n3\n4")
        composer.type(" and ")
        composer.paste("x" * 900)
        self.assertEqual("[Pasted text #1 +3 lines] and [Pasted text #2]", composer.shown)
        self.assertEqual("1\n2\n3\n4 and " + "x" * 900, composer.take())
        self.assertEqual("", composer.shown)

    def test_backspace_takes_a_placeholder_whole(self) -> None:
        composer = MockComposer(shown="a")
        composer.paste("1\n2\n3\n4")
        composer.backspace()
        self.assertEqual("a", composer.shown)

    def test_short_paste_loses_one_line_end(self) -> None:
        composer = MockComposer()
        composer.paste("one\ntwo\n")
        self.assertEqual("one\ntwo", composer.shown)


class MockChoiceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.choice = ChoiceList((), ("a", "b", "c"))

    def test_cursor_and_enter_in_one_read_take_the_old_option(self) -> None:
        self.assertEqual(0, self.choice.press([KeyPress("down"), KeyPress("enter")]))

    def test_cursor_and_enter_in_two_reads_take_the_new_option(self) -> None:
        self.assertIs(None, self.choice.press([KeyPress("down")]))
        self.assertEqual(1, self.choice.press([KeyPress("enter")]))

    def test_digit_of_an_option_answers_and_other_digits_do_nothing(self) -> None:
        self.assertIs(None, self.choice.press([TypedText("9")]))
        self.assertEqual(2, self.choice.press([TypedText("3")]))

    def test_escape_cancels_the_choice(self) -> None:
        self.assertEqual(ESCAPED, self.choice.press([KeyPress("escape")]))

    def test_cursor_wraps_from_first_to_last_option(self) -> None:
        self.choice.press([KeyPress("up")])
        self.assertEqual([" ❯ 3. c"], self.choice.option_rows(80)[2:])

    def test_horizontal_row_is_moved_by_left_and_right_only(self) -> None:
        row = ChoiceRow((), ("once", "always", "no"), numbered=False)
        row.press([KeyPress("down"), TypedText("2")])
        self.assertEqual(0, row.selected)
        row.press([KeyPress("right")])
        self.assertEqual(1, row.selected)


class FormTests(SynchronousTestCase):
    def test_form_with_empty_required_field_cannot_be_accepted(self) -> None:
        form = MockForm("s", "who")
        form.press([KeyPress("down")])
        form.press([KeyPress("down")])
        self.assertIs(None, form.press([KeyPress("enter")]))
        self.assertEqual(0, form.at)

    def test_form_is_accepted_declined_or_cancelled(self) -> None:
        form = MockForm("s", "who", at=2, name="Ada")
        self.assertEqual(("accept", {"name": "Ada"}), form.press([KeyPress("enter")]))
        form.at = 3
        self.assertEqual(("decline", {}), form.press([KeyPress("enter")]))
        self.assertEqual(("cancel", {}), form.press([KeyPress("escape")]))


class MockEngineTests(SynchronousTestCase):
    def setUp(self) -> None:
        gates = Path("gates")
        gates.mkdir()
        self.engine, self.seen = TurnEngine(2.0, gates, 0.0), list[object]()

    def turn(self, *waits: Await) -> Iterator[Await]:
        try:
            for each in waits:
                self.seen.append((yield each))
        except TurnInterrupted:
            self.seen.append("interrupted")

    def test_engine_scales_sleeping_time(self) -> None:
        self.engine.start(self.turn(SleepStep(2)))  # type: ignore[arg-type]
        self.engine.tick(0.9)
        self.assertTrue(self.engine.busy)
        self.engine.tick(1.0)
        self.assertFalse(self.engine.busy)

    def test_gate_file_is_removed_when_the_gate_opens(self) -> None:
        self.engine.start(self.turn(GateStep("door")))  # type: ignore[arg-type]
        self.engine.tick(1)
        self.assertTrue(self.engine.busy)
        Path("gates/door").touch()
        self.engine.tick(2)
        self.assertFalse(self.engine.busy)
        self.assertFalse(Path("gates/door").exists())

    def test_engine_takes_answer_and_interrupt(self) -> None:
        self.engine.start(self.turn(AskStep(ChoiceList((), ("a",))), SleepStep(9)))  # type: ignore[arg-type]
        self.engine.answer(0)
        self.engine.interrupt()
        self.assertEqual([0, "interrupted"], self.seen)

    def test_engine_does_not_run_cancelled_timers(self) -> None:
        self.engine.later(1, lambda: self.seen.append("a")).cancel()
        self.engine.later(1, lambda: self.seen.append("b"))
        self.engine.tick(1)
        self.assertEqual(["b"], self.seen)


class PainterTests(SynchronousTestCase):
    def test_painter_writes_nothing_for_an_unchanged_view(self) -> None:
        written = list[str]()
        painter = ViewPainter(written.append)
        view = MockView(done=["a"], live=["b"], title="t")
        painter.draw(view, 80, 24)
        painter.draw(view, 80, 24)
        self.assertEqual(1, len(written))

    def test_painter_writes_finished_rows_once(self) -> None:
        written = list[str]()
        painter = ViewPainter(written.append)
        painter.draw(MockView(done=["first"], live=["x"], title=""), 80, 24)
        painter.draw(MockView(done=["first", "second"], live=["x"], title=""), 80, 24)
        self.assertNotIn("first", written[1])
        self.assertIn("second\r\nx", written[1])

    def test_long_rows_are_folded_at_words(self) -> None:
        self.assertEqual(["> one two", "  three"], folded("one two three", 11, "> ", "  "))
