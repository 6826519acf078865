"""The played agents' keys, composer, dialogs and engine, without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.choice import ESCAPED, Choice, Row
from tests.agents.mock_tui.composer import Composer
from tests.agents.mock_tui.engine import Ask, Await, Engine, Gate, Interrupted, Sleep
from tests.agents.mock_tui.form import Form
from tests.agents.mock_tui.keys import Decoder, Key, Pasted, Press, Typed
from tests.agents.mock_tui.terminal import Painter, View, folded

pytestmark = pytest.mark.essential


class DecoderTests(SynchronousTestCase):
    def read(self, *reads: bytes) -> list[Key]:
        decoder = Decoder()
        return [key for each in reads for key in decoder.feed(each)]

    def test_names_and_text(self) -> None:
        keys = self.read(b"ab\x1b[B\r\x1bOA\x1b")
        named = [Press("down"), Press("enter"), Press("up"), Press("escape")]
        self.assertEqual([Typed("ab"), *named], keys)

    def test_paste_over_two_reads_with_a_cut_character(self) -> None:
        text = "\x1b[200~ä\r\nb\tc\x1b[201~".encode()
        self.assertEqual([Pasted("ä\nb    c")], self.read(text[:7], text[7:]))

    def test_end_marker_inside_a_paste_ends_it(self) -> None:
        keys = self.read(b"\x1b[200~one\x1b[201~two\r")
        self.assertEqual([Pasted("one"), Typed("two"), Press("enter")], keys)

    @given(some.text(alphabet=some.characters(min_codepoint=32, exclude_characters="\x7f")))
    def test_typed_text_is_kept(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        typed = [key.text for key in self.read(data) if isinstance(key, Typed)]
        self.assertEqual(data.decode(), "".join(typed))


class ComposerTests(SynchronousTestCase):
    def test_placeholders_are_numbered_and_sent_in_full(self) -> None:
        composer = Composer()
        composer.paste("1\n2\n3\n4")
        composer.type(" and ")
        composer.paste("x" * 900)
        self.assertEqual("[Pasted text #1 +3 lines] and [Pasted text #2]", composer.shown)
        self.assertEqual("1\n2\n3\n4 and " + "x" * 900, composer.take())
        self.assertEqual("", composer.shown)

    def test_backspace_takes_a_placeholder_whole(self) -> None:
        composer = Composer(shown="a")
        composer.paste("1\n2\n3\n4")
        composer.backspace()
        self.assertEqual("a", composer.shown)

    def test_short_paste_loses_one_line_end(self) -> None:
        composer = Composer()
        composer.paste("one\ntwo\n")
        self.assertEqual("one\ntwo", composer.shown)


class ChoiceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.choice = Choice((), ("a", "b", "c"))

    def test_cursor_and_enter_in_one_read_take_the_old_option(self) -> None:
        self.assertEqual(0, self.choice.press([Press("down"), Press("enter")]))

    def test_in_two_reads_the_new_one(self) -> None:
        self.assertIs(None, self.choice.press([Press("down")]))
        self.assertEqual(1, self.choice.press([Press("enter")]))

    def test_digits_answer_at_once_and_others_do_nothing(self) -> None:
        self.assertIs(None, self.choice.press([Typed("9")]))
        self.assertEqual(2, self.choice.press([Typed("3")]))

    def test_escape(self) -> None:
        self.assertEqual(ESCAPED, self.choice.press([Press("escape")]))

    def test_wraps(self) -> None:
        self.choice.press([Press("up")])
        self.assertEqual([" ❯ 3. c"], self.choice.option_rows(80)[2:])

    def test_row_takes_left_and_right_only(self) -> None:
        row = Row((), ("once", "always", "no"), numbered=False)
        row.press([Press("down"), Typed("2")])
        self.assertEqual(0, row.selected)
        row.press([Press("right")])
        self.assertEqual(1, row.selected)


class FormTests(SynchronousTestCase):
    def test_required_field_holds_accept_back(self) -> None:
        form = Form("s", "who")
        form.press([Press("down")])
        form.press([Press("down")])
        self.assertIs(None, form.press([Press("enter")]))
        self.assertEqual(0, form.at)

    def test_accept_decline_cancel(self) -> None:
        form = Form("s", "who", at=2, name="Ada")
        self.assertEqual(("accept", {"name": "Ada"}), form.press([Press("enter")]))
        form.at = 3
        self.assertEqual(("decline", {}), form.press([Press("enter")]))
        self.assertEqual(("cancel", {}), form.press([Press("escape")]))


class EngineTests(SynchronousTestCase):
    def setUp(self) -> None:
        gates = Path("gates")
        gates.mkdir()
        self.engine, self.seen = Engine(2.0, gates, 0.0), list[object]()

    def turn(self, *waits: Await) -> Iterator[Await]:
        try:
            for each in waits:
                self.seen.append((yield each))
        except Interrupted:
            self.seen.append("interrupted")

    def test_sleep_is_scaled(self) -> None:
        self.engine.start(self.turn(Sleep(2)))  # type: ignore[arg-type]
        self.engine.tick(0.9)
        self.assertTrue(self.engine.busy)
        self.engine.tick(1.0)
        self.assertFalse(self.engine.busy)

    def test_gate_is_a_file_that_is_used_up(self) -> None:
        self.engine.start(self.turn(Gate("door")))  # type: ignore[arg-type]
        self.engine.tick(1)
        self.assertTrue(self.engine.busy)
        Path("gates/door").touch()
        self.engine.tick(2)
        self.assertFalse(self.engine.busy)
        self.assertFalse(Path("gates/door").exists())

    def test_answer_and_interrupt(self) -> None:
        self.engine.start(self.turn(Ask(Choice((), ("a",))), Sleep(9)))  # type: ignore[arg-type]
        self.engine.answer(0)
        self.engine.interrupt()
        self.assertEqual([0, "interrupted"], self.seen)

    def test_cancelled_timers_do_not_fire(self) -> None:
        self.engine.later(1, lambda: self.seen.append("a")).cancel()
        self.engine.later(1, lambda: self.seen.append("b"))
        self.engine.tick(1)
        self.assertEqual(["b"], self.seen)


class PainterTests(SynchronousTestCase):
    def test_unchanged_view_writes_nothing(self) -> None:
        written = list[str]()
        painter = Painter(written.append)
        view = View(done=["a"], live=["b"], title="t")
        painter.draw(view, 80, 24)
        painter.draw(view, 80, 24)
        self.assertEqual(1, len(written))

    def test_done_rows_are_written_once(self) -> None:
        written = list[str]()
        painter = Painter(written.append)
        painter.draw(View(done=["first"], live=["x"], title=""), 80, 24)
        painter.draw(View(done=["first", "second"], live=["x"], title=""), 80, 24)
        self.assertNotIn("first", written[1])
        self.assertIn("second\r\nx", written[1])

    def test_folding(self) -> None:
        self.assertEqual(["> one two", "  three"], folded("one two three", 11, "> ", "  "))
