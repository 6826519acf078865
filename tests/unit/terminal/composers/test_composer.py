"""Reading composers; the frames are cut from what Claude Code 2.1, Codex 0.169, Gemini CLI 0.61,
Qwen Code 0.15, Copilot 1.0 and pi 0.73 draw.
"""

from __future__ import annotations

import re

from twisted.trial.unittest import SynchronousTestCase

from tests.frames import load
from tests.frames.score import RULES
from tests.unit.terminal.screen_builders import text_frame
from tservice.terminal.composers.composer import (
    ComposerRule,
    read_composer_text,
    shows_quoted_dialog,
    still_contains_prompt,
)
from tservice.terminal.composers.draft import read_draft
from tservice.terminal.model_name import find_displayed_window
from tservice.terminal.screen_rules import ScreenRules

RULE = "─" * 100
CLAUDE = ComposerRule(glyph="❯", placeholder="❯\xa0")
CODEX = ComposerRule(glyph="›", placeholder="Ask Codex to do anything")
GEMINI = ComposerRule(glyph=">", placeholder="Type your message or @path/to/file")
PI = ComposerRule(glyph=None)


def rows(text: str) -> list[str]:
    """Lines without the first and last; C{=} alone stands for a rule."""
    return [RULE if row == "=" else row for row in text.split("\n")[1:-1]]


class ComposerTextTests(SynchronousTestCase):
    """L{read_composer_text}."""

    def read(self, rule: ComposerRule, text: str) -> str | None:
        return read_composer_text(rows(text), rule)

    def test_claude_composer_is_read_empty_typed_and_pasted(self) -> None:
        for inside, want in [
            ("❯\xa0", ""),
            ("❯\xa0hello there", "hello there"),
            ("❯\xa0one\n  two\n\n  four", "one\ntwo\n\nfour"),
            ("❯\xa0[Pasted text #1 +3 lines]", "[Pasted text #1 +3 lines]"),
            ("!\xa0echo hi\n  ls", "!\xa0echo hi\nls"),
            ("❯\xa01. first\n  2. second", "1. first\n2. second"),
        ]:
            screen = f"\n❯ an old prompt\n● done\n=\n{inside}\n=\n  ? for shortcuts\n"
            self.assertEqual(want, self.read(CLAUDE, screen))

    def test_claude_dialogs_are_not_read_as_a_composer(self) -> None:
        for dialog in [
            "\n❯ RUN: curl\n=\n Bash command\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n",
            "\n❯ ask\n=\n ☐ Colour\nWhich?\n❯ 1. Red\n  2. Blue\n=\n  5. Chat about this\nEnter\n",
            "\n Accessing workspace:\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n",
            "\n❯ ask\n=\n❯ 1. Red\n  2. Blue\n=\n",
        ]:
            self.assertIsNone(self.read(CLAUDE, dialog))

    def test_composer_of_other_claude_versions_is_read(self) -> None:
        """A plain glyph, between rules (2.0) or in a box (1); a quotation elsewhere is none."""
        for inside, want in [(">\xa0", ""), (">\xa0one\n  two", "one\ntwo"), ("> hi", "hi")]:
            self.assertEqual(want, self.read(CLAUDE, f"\n● done\n=\n{inside}\n=\n  ? for help\n"))
            sides = "\n".join(f"│ {row.ljust(40)} │" for row in inside.split("\n"))
            box = f"╭{'─' * 42}╮\n{sides}\n╰{'─' * 42}╯"
            self.assertEqual(want, self.read(CLAUDE, f"\n● done\n{box}\n  ? for help\n"))
        self.assertIsNone(self.read(CLAUDE, "\n● he said\n> hello\n"))
        dialog = (
            "\n╭────────────╮\n│ Proceed?   │\n│ > 1. Yes   │\n│   2. No    │\n╰────────────╯\n"
        )
        self.assertIsNone(self.read(CLAUDE, dialog))

    def test_codex_composer_without_rules_is_read(self) -> None:
        footer = "\n\n  stub-model default · /home/me\n  ← for agents\n"
        self.assertEqual(
            "", self.read(CODEX, "\n› hello\n• OK\n\n› Ask Codex to do anything" + footer)
        )
        self.assertEqual("hello\nyou", self.read(CODEX, "\n• OK\n\n› hello\n  you" + footer))

    def test_gemini_composer_below_one_rule_is_read(self) -> None:
        footer = "\n\n workspace (/directory)    sandbox\n /home/me    no sandbox\n"
        head = "\n > old prompt\n✦ answer\n=\n Shift+Tab to accept edits\n\n"
        self.assertEqual(
            "", self.read(GEMINI, head + " >   Type your message or @path/to/file" + footer)
        )
        self.assertEqual("one\ntwo", self.read(GEMINI, head + " > one\n   two" + footer))
        self.assertEqual(
            "[Pasted Text: 12 lines]",
            self.read(GEMINI, head + " > [Pasted Text: 12 lines]" + footer),
        )

    def test_old_prompt_above_a_dialog_is_no_composer(self) -> None:
        """It looks just like one; an Enter now would answer the dialog."""
        dialog = "│ Allow execution of [Shell]? │\n│ ● 1. Allow once │\n│   2. No (esc) │"
        self.assertIsNone(self.read(GEMINI, f"\n > RUN: touch x\n\n{dialog}\n"))

    def test_old_prompt_above_an_answer_is_no_composer(self) -> None:
        answer = "\n".join(f"✦ line {number}" for number in range(5))
        self.assertIsNone(self.read(GEMINI, f"\n > old prompt\n{answer}\n"))

    def test_pi_composer_without_glyph_is_read(self) -> None:
        self.assertEqual("", self.read(PI, "\n hello\n=\n=\n/home/me\n0.0%/128k\n"))
        self.assertEqual("hello", self.read(PI, "\n=\n hello\n=\n/home/me\n0.0%/128k\n"))
        self.assertIsNone(self.read(PI, "\n hello\n"))

    def test_empty_screen_has_no_composer(self) -> None:
        for rule in (CLAUDE, CODEX, GEMINI, PI):
            self.assertIsNone(read_composer_text([""] * 40, rule))


class ComposerHoldTests(SynchronousTestCase):
    """L{still_contains_prompt}."""

    def test_typed_prompt_is_found_in_the_composer(self) -> None:
        for composer, prompt in [
            ("hello there", "hello there"),
            ("x" * 90 + "\n" + "x" * 30, "x" * 120),
            ("a    b", "a\tb"),
            ("[Pasted text #3 +10 lines]", "one\ntwo"),
            ("[Pasted Content 265 chars] \u200b", "long"),
            ("draft hello there", "hello there"),
            ("line 8\nline 9", "\n".join(f"line {number}" for number in range(10))),
            ("!\xa0echo hi\nls", "!echo hi\nls"),
        ]:
            self.assertTrue(still_contains_prompt(composer, prompt), composer)

    def test_other_text_in_the_composer_is_not_the_prompt(self) -> None:
        for composer, prompt in [
            ("", "hello"),
            ("Press up to edit queued messages", "hello"),
            ("o", "hello there, you"),
            ("something else", "hello"),
        ]:
            self.assertFalse(still_contains_prompt(composer, prompt), composer)


class ComposerDialogTests(SynchronousTestCase):
    """To take what stands above a dialog for the composer would press Enter at the dialog."""

    RULES = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "pi": PI}

    SENT = re.compile(r" ?[❯›>] ([A-Z0-9]{3,}: .*)")
    """A prompt of the recordings, as the conversation shows it."""

    def test_no_recorded_dialog_contains_the_sent_prompt(self) -> None:
        seen = 0
        for recording in load():
            rule = self.RULES.get(recording.cli)
            if rule is None or recording.label.dialog is None:
                continue
            screen = recording.plain.decode("utf-8").split("\n")
            text = read_composer_text(screen, rule)
            for sent in filter(None, map(self.SENT.match, screen)):
                seen += 1
                self.assertFalse(text and still_contains_prompt(text, sent[1]), str(recording))
        self.assertGreater(seen, 50)


class QuotedComposerTests(SynchronousTestCase):
    """L{shows_quoted_dialog}."""

    QUOTED = "Why this?\n❯ 1. Yes\n  2. No, exit\n\n Enter to confirm · Esc to cancel"

    def test_composer_quoting_a_dialog_is_recognized(self) -> None:
        screen = [
            "› Why this?",
            "  ❯ 1. Yes",
            "    2. No, exit",
            "",
            "   Enter to confirm · Esc to",
        ]
        self.assertTrue(shows_quoted_dialog([*screen, "  cancel", "", "  a footer"], self.QUOTED))
        self.assertTrue(shows_quoted_dialog(["│ > 1. a   │", "│   2. b   │"], "1. a\n2. b"))

    def test_dialog_itself_is_no_quotation(self) -> None:
        dialog = ["Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel"]
        for prompt in (self.QUOTED, "1. build\n2. test", "Yes", "No", "Esc to cancel?", ""):
            self.assertFalse(shows_quoted_dialog(dialog, prompt), prompt)


class UnknownCliTests(SynchronousTestCase):
    """A CLI of whose composer nothing is known."""

    def test_text_between_two_rules_is_no_draft(self) -> None:
        """Qwen Code's empty composer, with its hint."""
        rule = "─" * 60
        frame = text_frame(f"hello\n{rule}\n>   Type your message\n{rule}\n  footer")
        rules = ScreenRules.from_capabilities({})
        self.assertIsNone(read_draft(frame, rules, ComposerRule(glyph=None)))
        known = ScreenRules.from_capabilities(
            {"composerReadyMark": "Type your", "promptGlyph": ">"}
        )
        found = read_draft(frame, known, ComposerRule(glyph=">", placeholder="Type your message"))
        self.assertEqual("", found and found.text)


class DisplayedWindowTests(SynchronousTestCase):
    """The size of the context window in pi's footer."""

    def read(self, footer: str) -> int | None:
        return find_displayed_window(text_frame(f"x\n{footer}"), RULES["pi"])

    def test_window_of_the_footer_is_read_in_tokens(self) -> None:
        for shown, size in (("128k", 128_000), ("1.1M", 1_100_000), ("900", 900), ("x", None)):
            self.assertEqual(size, self.read(f"1.0%/{shown} (auto)      stub-model"), shown)
        self.assertIsNone(find_displayed_window(text_frame("1%/9k"), RULES["claude"]))


class GapTests(SynchronousTestCase):
    """Rows that are mostly gaps; C{bench/hostile.py} measures what they cost."""

    def test_largest_screen_of_gaps_is_read_in_time(self) -> None:
        for row in ("a" + " " * 498 + "a", "│" + " " * 498 + "a", "│ " * 250):
            self.assertIsNone(read_composer_text([row] * 200, ComposerRule(glyph=">")), row[:3])
            self.assertFalse(shows_quoted_dialog([row] * 200, "1. a"), row[:3])

    def test_box_sides_are_stripped_from_the_composer(self) -> None:
        for row in ("│ > a b │", "  ┃ > a b  ┃  ", "> a b", "│> a b│"):
            self.assertEqual("a b", read_composer_text([row], ComposerRule(glyph=">")), row)
