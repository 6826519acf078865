"""What a frame and a title say of the agent."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames.score import RULES
from tests.unit.terminal.screen_builders import COMPOSER, PERMISSION, RULE, read_status, text_frame
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import read_screen

SPINNER = "✻ Slithering… (1s · ↓ 7 tokens)"


class FullScreenTests(SynchronousTestCase):
    """A program writes every row full, as agents' own never do."""

    def test_full_screen_without_a_blank_row_has_no_ready_composer(self) -> None:
        for mode, rules in RULES.items():
            for rows in ("> a\n" * 24, "> a\n" + "  b\n" * 23, "› a\n" + "  b\n" * 23):
                self.assertFalse(read_screen(text_frame(rows), "", rules).composer_ready, mode)


class WorkingStatusTests(SynchronousTestCase):
    def test_spinner_above_the_composer_means_working(self) -> None:
        """The composer stays while a turn runs."""
        found = read_status(f"❯ go\n\n{SPINNER}\n  ⎿  Tip: something\n\n{COMPOSER}")
        self.assertEqual(("working", True), (found.state, found.composer_ready))
        self.assertIn("Slithering", found.evidence)

    def test_retry_line_is_work(self) -> None:
        """Waiting to try again is work."""
        line = "✻ API error · Retrying in 2s · attempt 3/10"
        self.assertEqual("working", read_status(f"❯ go\n\n{line}\n\n{COMPOSER}").state)

    def test_queued_messages_below_a_spinner_still_mean_working(self) -> None:
        """Queued messages stand between spinner and composer."""
        queued = COMPOSER.replace("❯\u00a0", "❯\u00a0Press up to edit queued messages")
        found = read_status(f"{SPINNER}\n\n  ❯ one\n  ❯ two\n{queued}")
        self.assertEqual("working", found.state)

    def test_finished_line_is_no_work(self) -> None:
        """The past tense is no work."""
        found = read_status(f"● done\n\n✻ Churned for 6s\n\n{COMPOSER}", title="✳ Claude Code")
        self.assertEqual("idle", found.state)

    def test_quoted_spinner_is_no_work(self) -> None:
        """What the agent says about spinners is indented, so it is none."""
        self.assertEqual("idle", read_status(f"● Look:\n\n  {SPINNER}\n\n{COMPOSER}").state)

    def test_spinner_in_the_title_is_work(self) -> None:
        """A spinner in the title is enough while text streams."""
        for title, state in (("⠂ Claude Code", "working"), ("⠐ Fix", "working"), ("✳ x", "idle")):
            self.assertEqual(state, read_status(f"● text\n\n{COMPOSER}", title=title).state, title)

    def test_dialog_overrides_a_spinner(self) -> None:
        """While a dialog waits nothing goes on, whatever spins above it."""
        found = read_status(f"{SPINNER}\n{PERMISSION}", title="⠂ Claude Code")
        self.assertEqual(("dialog", False), (found.state, found.composer_ready))
        self.assertEqual("permission dialog: Do you want to proceed?", found.evidence)

    def test_unrecognized_screen_is_unknown(self) -> None:
        """Neither composer nor dialog nor spinner changes nothing (protocol-status)."""
        found = read_status("Loading the configuration")
        self.assertEqual(("unknown", None), (found.state, found.working))

    def test_composer_of_a_dead_pane_is_not_ready(self) -> None:
        """A dead pane's composer takes no keys."""
        found = read_status(f"{COMPOSER}\n\nPane is dead (signal 9, Fri Nov 20 10:10:51 2026)")
        self.assertEqual(("unknown", False), (found.state, found.composer_ready))


class ComposerStatusTests(SynchronousTestCase):
    def test_composer_is_ready_in_every_mode(self) -> None:
        """Footer and glyph change with the mode; the frame does not."""
        for footer in ("  ⏸ plan mode on", "  ⏵⏵ accept edits on", "  my status line\n  ← x", ""):
            self.assertTrue(
                read_status(f"{RULE}\n❯\u00a0\n{RULE}\n{footer}").composer_ready, footer
            )
        self.assertTrue(read_status(f"{RULE}\n! ls\n{RULE}\n  ! for shell mode").composer_ready)

    def test_composer_rule_may_carry_the_session_name(self) -> None:
        """The upper rule may carry the session's name."""
        named = "─" * 60 + " my-session ──"
        self.assertTrue(read_status(f"{named}\n❯\u00a0\n{RULE}").composer_ready)

    def test_completion_menu_below_the_composer_keeps_it_ready(self) -> None:
        """A menu of slash commands opens below the composer."""
        menu = "\n".join(f"/command{n}    does it" for n in range(8))
        self.assertTrue(read_status(f"{RULE}\n❯\u00a0/\n{RULE}\n{menu}").composer_ready)

    def test_composer_followed_by_a_shell_prompt_is_unknown(self) -> None:
        """A composer that a shell's prompt follows was left behind by a client that is gone."""
        left = (
            f"{RULE}\n❯\u00a0/exit\n{RULE}\n\nResume this session with:\nclaude --resume 1\nme:~$"
        )
        self.assertEqual("unknown", read_status(left).state)

    def test_half_drawn_composer_is_not_ready(self) -> None:
        """Without its lower rule it is not there yet."""
        self.assertFalse(read_status(f"{RULE}\n❯\u00a0").composer_ready)

    def test_ready_mark_of_a_custom_cli_counts_in_the_last_rows(self) -> None:
        """A custom entry's mark counts in the last rows only."""
        rules = ScreenRules.from_capabilities({"composerReadyMark": "ready>"})
        self.assertTrue(read_screen(text_frame("hello\nready>"), "", rules).composer_ready)
        above = "ready>\n" + "text\n" * 20
        self.assertFalse(read_screen(text_frame(above), "", rules).composer_ready)
        self.assertFalse(read_screen(text_frame("ready>"), "", ScreenRules()).composer_ready)


class LimitTests(SynchronousTestCase):
    def test_usage_limit_and_its_reset_time_are_read(self) -> None:
        """The sentence and its time are handed on in the screen's own words."""
        cases = {
            "  ⎿  5-hour limit reached ∙ resets 3pm": "3pm",
            "● You've hit your limit · resets 3pm (UTC)": "3pm (UTC)",
            "  ⎿  Claude usage limit reached. Your limit will reset at 5pm (Europe/Zurich).": "5pm"
            " (Europe/Zurich)",
            "■ You've hit your usage limit. Upgrade or try again at 3:05 PM.": "3:05 PM",
            "● You've hit your weekly limit": None,
            "  ⎿ \u00a0You've hit your session limit · resets 3:03pm (UTC)": "3:03pm (UTC)",
        }
        for line, when in cases.items():
            found = read_status(f"❯ go\n\n{line}\n\n{COMPOSER}")
            self.assertIsNotNone(found.limit, line)
            self.assertEqual(when, found.limit_resets, line)

    def test_usage_limit_above_its_dialog_is_read(self) -> None:
        """The client may ask at once what to do about it; the limit is told all the same."""
        text = (
            "❯ go\n  ⎿  You've hit your session limit · resets 3pm\n\n✻ Brewed for 0s\n\n"
            f"❯ /rate-limit-options\n\n{RULE}\n  What do you want to do?\n\n"
            "  ❯ 1. Stop and wait for limit to reset\n    2. Upgrade your plan\n\n"
            "  Enter to confirm · Esc to cancel"
        )
        found = read_status(text)
        assert found.dialog is not None
        self.assertEqual(("3pm", "notice"), (found.limit_resets, str(found.dialog.kind)))

    def test_prose_about_limits_is_no_usage_limit(self) -> None:
        """A sentence about limits, or an old one, is none."""
        for line in (
            "● The API answers 429 when the rate limit is reached.",
            "● I raised the limit from 5 to 10 so that the usage limit reached earlier is gone.",
            "  Approaching usage limit · resets at 7pm",
        ):
            self.assertIsNone(read_status(f"❯ go\n\n{line}\n\n{COMPOSER}").limit, line)
        old = "  ⎿  5-hour limit reached ∙ resets 3pm\n\n❯ a\n\n● b\n\n❯ c\n\n● d\n\n✻ Baked for 1s"
        self.assertIsNone(read_status(f"{old}\n\n{COMPOSER}").limit)


class RulesTests(SynchronousTestCase):
    def test_bad_screen_rules_name_their_field(self) -> None:
        """A wrong entry is told by its field."""
        for capabilities, field in (
            ({"workingLine": "("}, "workingLine"),
            ({"workingTitle": "["}, "workingTitle"),
            ({"composerShape": "round"}, "composerShape"),
            ({"modelDetect": {"pattern": "no group", "rows": 3}}, "modelDetect.pattern"),
        ):
            why = self.assertRaises(ValueError, ScreenRules.from_capabilities, capabilities)
            self.assertIn(field, str(why))

    def test_unknown_client_is_read_with_caution(self) -> None:
        """Without any knowledge nothing is called idle or working."""
        found = read_screen(text_frame("some output\n> "), "⠂ title", RULES["antigravity"])
        self.assertEqual("unknown", found.state)
