"""What agents write into their own composer, and a composer in a box of half blocks."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames import HERE
from tests.frames.score import RULES
from tservice.terminal.composers.composer import ComposerRule
from tservice.terminal.composers.composer_regions import contains_draft
from tservice.terminal.composers.draft import read_draft
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules

RULE = "─" * 40
CARET = "\x1b[48;2;212;212;212m"
COLOUR = "\x1b[38;2;108;112;134m\x1b[49m"
PLAIN = "\x1b[39m\x1b[49m"


class ColoredHintTests(SynchronousTestCase):
    """Qwen Code's suggestion: a caret on the first letter, the rest in a colour."""

    def has_draft(self, *rows: str, hint: bool = True) -> bool:
        rules = ScreenRules(shape="framed", glyphs=(">",), colored_hint=hint)
        text = "\n".join((RULE, *rows, RULE, "  footer")) + "\n"
        return contains_draft(ScreenFrame.from_capture(text.encode(), 40), rules)

    def test_recorded_suggestion_is_no_draft(self) -> None:
        capture = (HERE / "qwen/v24/suggestion.ansi.txt").read_bytes()
        self.assertFalse(contains_draft(ScreenFrame.from_capture(capture, 120), RULES["qwen"]))

    def test_suggestion_may_take_several_rows(self) -> None:
        self.assertFalse(self.has_draft(f"> {CARET}r{COLOUR}un the", f"{COLOUR}  tests"))

    def test_typed_text_is_a_draft_with_the_caret_anywhere(self) -> None:
        self.assertTrue(self.has_draft(f"> {PLAIN}run{CARET} "))
        self.assertTrue(self.has_draft(f"> {CARET}r{PLAIN}un"))
        self.assertTrue(self.has_draft(f"> {CARET}r{COLOUR}un", f"{PLAIN}  tests"))
        self.assertTrue(self.has_draft(f"> {CARET}r"))

    def test_other_clis_write_no_such_text(self) -> None:
        self.assertTrue(self.has_draft(f"> {CARET}r{COLOUR}un", hint=False))


class BoxedBarTests(SynchronousTestCase):
    """Copilot's composer is a bar between half blocks; opencode's ends with a row of its own."""

    def read(self, *rows: str) -> str:
        rules = ScreenRules(shape="bar", glyphs=("┃",))
        text = "\n".join((*rows, "╹" + "▀" * 39, " / commands")) + "\n"
        found = read_draft(
            ScreenFrame.from_capture(text.encode(), 40), rules, ComposerRule(glyph="┃")
        )
        assert found is not None
        return found.text

    def test_every_row_below_the_upper_end_is_text(self) -> None:
        self.assertEqual("", self.read("╻" + "▄" * 39, "┃"))
        self.assertEqual("one\ntwo", self.read("╻" + "▄" * 39, "┃ one", "┃ two"))

    def test_last_row_without_an_upper_end_is_no_text(self) -> None:
        self.assertEqual("one", self.read("┃ one", "┃", "┃ Build · Model"))
