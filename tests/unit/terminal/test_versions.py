"""Layouts of other versions than the recorded ones, drawn by hand after what those print.

The clients move between boxes, rules and bars, and between glyphs, from version to version; what a
screen means stays the same.
"""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames.score import RULES
from tests.unit.terminal.screen_builders import option_labels
from tservice.terminal.composers.composer_regions import contains_draft, has_text_after
from tservice.terminal.dialogs.trust import choose_next_key
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.model_name import find_displayed_model
from tservice.terminal.screen_status import ScreenReading, read_screen

WIDTH = 100
RULE = "─" * WIDTH


def box(*rows: str, width: int = WIDTH) -> tuple[str, ...]:
    """Rows in a box."""
    inside = (f"│ {row.ljust(width - 4)} │" for row in rows)
    return (f"╭{'─' * (width - 2)}╮", *inside, f"╰{'─' * (width - 2)}╯")


ASKED = (
    "Do you trust the files in this folder?",
    "",
    "/home/me/proj",
    "",
    "Claude Code may read, write, or execute files contained in this directory. This can pose",
    "security risks, so only use files from trusted sources.",
    "",
    "Learn more ( https://docs.example.org/security )",
    "",
)
PROCEED = ("❯ 1. Yes, proceed", "  2. No, exit", "")
CODEX_TRUST = (
    "> You are in /home/me/proj",
    "",
    "  Do you trust the contents of this directory? Working with untrusted contents comes with",
    "  higher risk of prompt injection.",
    "",
    "› 1. Yes, continue",
    "  2. No, quit",
    "",
    "  Press enter to continue",
)
LOGO = (" ▐▛███▜▌   Claude Code v2.0.14", "▝▜█████▛▘  {}", "  ▘▘ ▝▝    /home/me/proj", "")
GEMINI_FOOTER = f"~/proj{' ' * 20}no sandbox (see /docs){' ' * 20}gemini-2.5-pro (99% context left)"
GEMINI_EMPTY = box(">   Type your message or @path/to/file")
SHELL = (
    "?  Shell touch foo [current working directory /home/me] ←",
    "",
    "touch foo",
    "",
    "Allow execution of: 'touch'?",
    "",
    "● 1. Yes, allow once",
    "  2. Yes, allow always ...",
    "  3. No, suggest changes (esc)",
    "",
)


def frame(*rows: str) -> ScreenFrame:
    """The rows as a pane shows them."""
    return ScreenFrame.from_capture("\n".join(rows).encode(), WIDTH)


def seen(cli: str, *rows: str, title: str = "") -> ScreenReading:
    """The judgement on the rows."""
    return read_screen(frame(*rows), title, RULES[cli])


class TrustVersionTests(SynchronousTestCase):
    """The sentences and labels change; what the answers mean does not."""

    def check(self, cli: str, *rows: str) -> None:
        found = seen(cli, *rows).dialog
        self.assertEqual(found and found.kind, "trust", rows)
        self.assertEqual(choose_next_key(frame(*rows), RULES[cli]), "Enter")

    def moved(self, cli: str, marker: str, *rows: str) -> None:
        """The same with the marker on the option that leaves."""
        below = [row.replace(marker, " ") if "1." in row else row for row in rows]
        rows = tuple(row.replace("  2.", f"{marker} 2.") for row in below)
        self.assertEqual(choose_next_key(frame(*rows), RULES[cli]), "Up", rows)

    def test_boxed_trust_dialog_of_claude_1_is_answered(self) -> None:
        """Claude Code 1."""
        rows = (*box("", *ASKED, *PROCEED), "   Enter to confirm · Esc to exit")
        self.check("claude", *rows)
        self.moved("claude", "❯", *rows)

    def test_ruled_trust_dialog_of_claude_2_is_answered(self) -> None:
        """Claude Code 2.0."""
        rows = (RULE, *ASKED, *PROCEED, " Enter to confirm · Esc to exit")
        self.check("claude", *rows)
        self.moved("claude", "❯", *rows)

    def test_trust_dialog_about_directory_contents_is_answered(self) -> None:
        """Codex before 0.100."""
        self.check("codex", *CODEX_TRUST)
        self.moved("codex", "›", *CODEX_TRUST)

    def test_permission_quoting_the_trust_dialog_is_no_trust_dialog(self) -> None:
        """All its words, and even its labels, in the command: the options are those of a tool."""
        asked = ("Bash command", "", *ASKED, *PROCEED, "Do you want to proceed?")
        options = ("❯ 1. Yes", "  2. No, and tell Claude what to do differently (esc)")
        for rows in (box(*asked, *options), (RULE, *asked, *options, "", " Esc to cancel")):
            found = seen("claude", *rows).dialog
            self.assertEqual(found and found.kind, "permission", rows)
            self.assertIsNone(choose_next_key(frame(*rows), RULES["claude"]))

    def test_dialog_to_exit_for_another_reason_is_no_trust_dialog(self) -> None:
        """The bypass warning leaves the client as well, and may name files and trust."""
        rows = (
            RULE,
            " WARNING: Claude Code running in Bypass Permissions mode",
            " Only use it where you trust the files.",
            "",
            " ❯ 1. No, exit",
            "   2. Yes, I accept",
            "",
            " Enter to confirm · Esc to cancel",
        )
        self.assertIsNone(choose_next_key(frame(*rows), RULES["claude"]))


class ComposerVersionTests(SynchronousTestCase):
    """Where it stands and what it begins with."""

    def check(self, cli: str, *rows: str, state: str = "idle") -> None:
        reading = seen(cli, *rows)
        self.assertEqual((reading.state, reading.composer_ready), (state, True), rows)

    def test_boxed_composer_with_a_plain_glyph_is_ready(self) -> None:
        """Claude Code 1: empty, with a hint, with text, in a turn."""
        below = "  ? for shortcuts"
        self.check("claude", "⏺ Hi!", "", *box("> "), below)
        self.check("claude", *box('>\u00a0Try "refactor foo.py"'), below)
        self.check("claude", *box("> fix the", "  tests"), below)
        spinner = "✽ Cerebrating… (3s · ↑ 88 tokens · esc to interrupt)"
        self.check("claude", spinner, "", *box("> "), below, state="working")

    def test_ruled_composer_with_a_plain_glyph_is_ready(self) -> None:
        """Claude Code 2.0."""
        below = "  ? for shortcuts"
        self.check("claude", *LOGO, RULE, '>\u00a0Try "edit <filepath>"', RULE, below)
        spinner = "✶ Pondering… (esc to interrupt · 12s · ↓ 1.2k tokens)"
        self.check("claude", spinner, "", RULE, ">\u00a0", RULE, below, state="working")

    def test_boxed_composers_of_other_clients_are_ready(self) -> None:
        self.check("gemini", *GEMINI_EMPTY, GEMINI_FOOTER)
        self.check("qwen", *GEMINI_EMPTY, GEMINI_FOOTER)
        self.check("copilot", *box(">   Enter @ to mention files"), " Ctrl+c Exit")
        spinner = "⠏ Thinking about it (esc to cancel, 3s)"
        self.check("gemini", spinner, "", *GEMINI_EMPTY, GEMINI_FOOTER, state="working")

    def test_composer_with_a_leading_bar_is_ready(self) -> None:
        """Codex before 0.30."""
        self.check("codex", "▌ Ask Codex to do anything", "", "  ⏎ send   Ctrl+C quit")

    def test_boxes_without_a_composer_are_not_ready(self) -> None:
        """A logo that begins with a prompt's glyph, a list of options, a quotation."""
        for rows in (
            box(">_ OpenAI Codex (v0.46.0)", "", "model:     gpt-5-codex"),
            box("❯ 1. Yes", "  2. No"),
            box("! important", "  Enter to confirm"),
        ):
            self.assertFalse(seen("codex", *rows).composer_ready, rows)
            self.assertFalse(seen("gemini", *rows).composer_ready, rows)
            self.assertFalse(seen("claude", *rows).composer_ready, rows)


class WorkingVersionTests(SynchronousTestCase):
    def test_claude_2_1_330_is_working(self) -> None:
        """Half moons in its title; a retry in small letters."""
        ruled = (RULE, "❯\xa0", RULE, "  ⏸ manual mode on · esc to interrupt")
        self.assertTrue(seen("claude", "● Yes", "", *ruled, title="◑ Claude Code").working)
        self.assertFalse(seen("claude", "● Yes", "", *ruled, title="✳ Claude Code").working)
        retry = "✻ API error · retrying in 1s · attempt 1/10"
        self.assertTrue(seen("claude", retry, "", *ruled).working)

    def test_working_hints_in_other_words_are_recognized(self) -> None:
        """Capitals, a clock behind the hint, the hint after the first Escape."""
        bar = ("  ┃", "  ┃  Build · Stub Model stub", f"  ╹{'▀' * 80}")
        footer = ("", "  stub default · ~/w")
        for cli, rows in (
            ("opencode", (*bar, "   ■■■■  esc again to interrupt          ctrl+p commands")),
            ("codex", ("• Working (3s • Esc to interrupt)", "", "› Explain", *footer)),
            ("codex", ("• Working (3s • esc to interrupt) · /ps", "", "› Explain", *footer)),
            ("gemini", (" ⠏ Thinking... (Esc to cancel, 3s)", "", *GEMINI_EMPTY)),
            ("qwen", ("⠏ Thinking (esc to cancel, 3s)", *GEMINI_EMPTY)),
            ("copilot", ("◎ Thinking (Esc to cancel)", "", RULE, "❯ ", RULE)),
        ):
            self.assertEqual(seen(cli, *rows).state, "working", rows)

    def test_working_hint_in_an_answer_is_no_work(self) -> None:
        said = "● To stop it, press esc to cancel."
        self.assertEqual(seen("qwen", said, "", *GEMINI_EMPTY).state, "idle")


class DraftVersionTests(SynchronousTestCase):
    """Text that somebody typed and has not sent."""

    def check(self, wanted: bool, inside: str) -> None:
        for edge in ((RULE, RULE), box()):
            found = contains_draft(
                frame("● Hi", edge[0], inside, edge[1], "  ? for help"), RULES["claude"]
            )
            self.assertEqual(found, wanted, inside)

    def test_unsent_draft_is_recognized(self) -> None:
        for inside in (
            "❯\u00a0fix",
            "❯\u00a0fix\n  the tests",
            "! ls",
            ">\u00a0fix",
            "❯\u00a0f\x1b[7m \x1b[0m",
            "❯\u00a0\x1b[7mf\x1b[0m",
            "❯\u00a0\x1b[4:3m\x1b[58;5;2mfix\x1b[0m",
            "❯\u00a0\x1b[4m\x1b[58;2;2;7;7mfix\x1b[0m",
        ):
            self.check(True, inside)

    def test_text_after_the_caret_tells_a_draft_from_a_suggestion(self) -> None:
        """A suggestion is dim but for the caret on its first character."""
        for wanted, inside in (
            (False, "❯\u00a0jjj\x1b[7m \x1b[0m"),
            (True, "❯\u00a0jjj\x1b[7mn\x1b[0m"),
            (True, "❯\u00a0jjj\x1b[7mn\x1b[0mop"),
            (False, "❯\u00a0jjj\x1b[7mn\x1b[0;2mop\x1b[0m"),
        ):
            shown = frame("● Hi", RULE, inside, RULE, "  ? for help")
            self.assertEqual(wanted, has_text_after(shown, 2, 5), inside)

    def test_composer_hints_are_no_draft(self) -> None:
        """Drawn dim, the caret on their first character."""
        hint = '\x1b[7mT\x1b[0;2mry "fix it"\x1b[0m'
        for inside in (
            "❯\u00a0",
            "❯",
            f"❯\u00a0{hint}",
            f">\u00a0{hint}",
            "❯\u00a0\x1b[7m \x1b[0m",
        ):
            self.check(False, inside)

    def test_screen_without_a_composer_has_no_draft(self) -> None:
        self.assertFalse(contains_draft(frame("● Hi", "❯ text"), RULES["claude"]))


class DialogVersionTests(SynchronousTestCase):
    def test_spinner_below_the_dialog_box_keeps_the_dialog(self) -> None:
        """Gemini CLI before 0.20 keeps the turn's spinner below its dialog."""
        reading = seen("gemini", *box(*SHELL), "", "⠏ Waiting for user confirmation...")
        self.assertEqual(reading.state, "dialog")
        wanted = ["Yes, allow once", "Yes, allow always ...", "No, suggest changes (esc)"]
        self.assertEqual(option_labels(reading.dialog), wanted)

    def test_answered_dialog_box_above_a_turn_is_work(self) -> None:
        """Answered: the box stays in the transcript, the turn goes on."""
        reading = seen("gemini", *box(*SHELL), "⠏ Thinking (esc to cancel, 3s)", *GEMINI_EMPTY)
        self.assertEqual(reading.state, "working")

    def test_review_page_ends_in_the_answers(self) -> None:
        """Claude Code 2.1.330 asks nothing more there."""
        found = seen(
            "claude",
            RULE,
            "←  ☒ Checks  ✔ Submit  →",
            "",
            "Review your answers",
            "",
            " ● Which checks should run before a commit?",
            "   → Types, Unit tests",
            "",
            "❯ 1. Submit answers",
            "  2. Cancel",
        ).dialog
        assert found is not None
        self.assertEqual(("review", "Review your answers"), (found.kind, found.question))

    def test_descriptions_of_an_unnumbered_list_are_read(self) -> None:
        """Blank rows part the options, what else stands in a part describes them."""
        rows = (
            RULE,
            "  Rewind",
            "",
            "    first",
            "    two files",
            "",
            "  ❯ second",
            "    one file",
        )
        reading = seen("claude", *rows, "", "  Enter to continue · Esc to cancel")
        self.assertEqual(option_labels(reading.dialog), ["first", "second"])
        together = (RULE, " Trust?", "", " ❯ No, exit", "   Yes, I trust this folder")
        reading = seen("claude", *together, "", " Enter to confirm · Esc to cancel")
        self.assertEqual(option_labels(reading.dialog), ["No, exit", "Yes, I trust this folder"])


class CompletionTests(SynchronousTestCase):
    def test_completion_menu_may_fill_the_screen(self) -> None:
        commands = [f"/command{number}   What it does" for number in range(40)]
        self.assertTrue(seen("claude", RULE, "❯\u00a0/", RULE, *commands).composer_ready)
        said = [f"  output {number}" for number in range(40)]
        self.assertFalse(seen("claude", RULE, "❯\u00a0/", RULE, *said).composer_ready)


class ModelVersionTests(SynchronousTestCase):
    def check(self, cli: str, model: str | None, *rows: str) -> None:
        self.assertEqual(find_displayed_model(frame(*rows), RULES[cli]), model)

    def test_model_next_to_the_claude_logo_is_read(self) -> None:
        """The short banner of Claude Code 2, shown from the second start on."""
        for said, model in (
            ("Sonnet 4.5 · Claude Max", "Sonnet 4.5"),
            ("Opus 4.8 (1M context) · API Usage Billing", "Opus 4.8 (1M context)"),
            ("Sonnet 5 with low effort · Claude Pro", "Sonnet 5"),
            ("stub-model-7 · API Usage Billing", "stub-model-7"),
        ):
            self.check("claude", model, LOGO[0], LOGO[1].format(said), *LOGO[2:])

    def test_model_next_to_the_moving_logo_of_2_1_330_is_read(self) -> None:
        """It moves."""
        for logo in ("▝▜██████▀ ", " ▜██████▘ "):
            rows = (f"{logo} Opus 5.5 · API Usage Billing", " ▝▝   ▝▝   /home/me/proj", "")
            self.check("claude", "Opus 5.5", *rows)

    def test_ordinary_words_are_no_model(self) -> None:
        self.check("claude", None, "● I used Opus 4 · it was fine", "  Sonnet 4.5 · Claude Max")
        self.check("codex", None, "• It lives in", "  foo and bar · elsewhere")

    def test_model_in_the_codex_banner_is_read(self) -> None:
        """Where its footer names none."""
        banner = box(">_ OpenAI Codex (v0.46.0)", "", "model:     gpt-5-codex   /model to change")
        self.check("codex", "gpt-5-codex", *banner, "", "› Explain", "", "  100% context left")

    def test_model_without_the_remaining_context_is_read(self) -> None:
        self.check("gemini", "gemini-2.5-pro", *GEMINI_EMPTY, GEMINI_FOOTER)
