"""Dialogs are read where dialogs live, and nowhere else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.terminal.screen_builders import (
    COMPOSER,
    PERMISSION,
    RULE,
    TRUST,
    WIDTH,
    option_descriptions,
    option_labels,
    read_dialog_text,
    read_status,
    text_frame,
)
from tservice.terminal.dialogs.dialog_kinds import DialogKind, classify_dialog
from tservice.terminal.dialogs.dialog_options import find_numbered_block


class GrammarTests(SynchronousTestCase):
    """protocol-dialogs: frame grammar."""

    def read(self, *rows: str) -> list[str]:
        block = find_numbered_block(rows)
        return [] if block is None else [f"{o.n}{'*' * o.selected}{o.label}" for o in block.options]

    def test_option_row_is_spaces_marker_digit_separator_label(self) -> None:
        """Spaces and marker are optional, the separator is a point or a parenthesis."""
        self.assertEqual(["1*Yes", "2No"], self.read("  ❯ 1. Yes", "    2) No"))
        self.assertEqual(["1Yes", "2*No"], self.read("1.Yes", "❯2.No"))

    def test_option_list_has_two_to_nine_options(self) -> None:
        """One option is none; what would be the tenth is not part of it."""
        self.assertEqual([], self.read("1. only"))
        rows = [f"{n}. x" for n in range(1, 13)]
        self.assertEqual(9, len(self.read(*rows)))

    def test_options_are_numbered_consecutively_from_one(self) -> None:
        """A list that begins elsewhere or leaves a number out is cut there."""
        self.assertEqual([], self.read("2. b", "3. c"))
        self.assertEqual(["1a", "2b"], self.read("1. a", "2. b", "4. d"))

    def test_options_may_be_three_lines_apart(self) -> None:
        """Up to three lines between two options, not four."""
        self.assertEqual(["1a", "2b"], self.read("1. a", "x", "", "y", "2. b"))
        self.assertEqual([], self.read("1. a", "x", "", "y", "z", "2. b"))

    def test_last_complete_block_of_options_wins(self) -> None:
        """The last block that is complete wins over earlier ones and over a lone number below."""
        rows = ("1. a", "2. b", "text", "1. c", "2. d", "3. e", "text", "1. lone")
        self.assertEqual(["1c", "2d", "3e"], self.read(*rows))

    def test_decimal_numbers_are_no_options(self) -> None:
        """A number with a fraction is not an option."""
        self.assertEqual([], self.read("1.5 seconds", "2.5 seconds"))

    @settings(max_examples=example_count(300), deadline=None)
    @given(st.lists(st.text("12345❯.) ab☐[]✔", max_size=12), max_size=20))
    def test_any_option_block_is_numbered_from_one_to_at_most_nine(self, rows: list[str]) -> None:
        """Whatever the screen holds, a block is numbered 1..n with n in 2..9."""
        block = find_numbered_block(rows)
        if block is not None:
            numbers = [option.n for option in block.options]
            self.assertEqual(list(range(1, len(numbers) + 1)), numbers)
            self.assertIn(len(numbers), range(2, 10))


class PermissionDialogTests(SynchronousTestCase):
    def test_permission_dialog_is_read_in_full(self) -> None:
        """Everything an approval needs is there."""
        found = read_dialog_text(f"❯ hello\n\n● Bash(touch made.txt)\n{PERMISSION}")
        assert found is not None
        self.assertEqual(DialogKind.PERMISSION, found.kind)
        self.assertEqual("Bash command", found.title)
        self.assertEqual("Do you want to proceed?", found.question)
        self.assertEqual(
            ["Yes", "Yes, and don’t ask again for: touch *", "No"], option_labels(found)
        )
        self.assertEqual("1", found.selected_option and found.selected_option.key)
        self.assertEqual((True, False), (found.digits_answer, found.needs_enter))
        self.assertIn("   touch made.txt", found.context)
        self.assertNotIn("❯ hello", found.context)

    def test_edge_of_line_drawing_characters_bounds_a_dialog(self) -> None:
        """A pane's capture writes such characters between ESC ( 0 and ESC ( B."""
        rule = "\x1b(0" + "q" * WIDTH + "\x1b(B"
        self.assertEqual(
            read_dialog_text(PERMISSION), read_dialog_text(PERMISSION.replace(RULE, rule))
        )

    def test_dialog_hash_ignores_marker_width_history_and_colours(self) -> None:
        """Marker, width, history and colours do not change it; command and labels do."""
        base = read_dialog_text(PERMISSION)
        moved = PERMISSION.replace(" ❯ 1.", "   1.").replace("   2.", " ❯ 2.")
        narrow = PERMISSION.replace(RULE, "─" * 60)
        coloured = PERMISSION.replace("1. Yes", "\x1b[38;5;153m1.\x1b[0m Yes")
        other = read_dialog_text(PERMISSION.replace("touch made.txt", "rm -rf made"))
        assert base is not None
        assert other is not None
        self.assertNotEqual(base.frame_hash, other.frame_hash)
        for same in (moved, narrow, coloured, f"● other history\n{PERMISSION}"):
            found = read_dialog_text(same)
            assert found is not None
            self.assertEqual(base.frame_hash, found.frame_hash, same)

    def test_wrapped_label_is_one_label(self) -> None:
        """At 60 columns a label takes two rows and is one label still."""
        rule = "─" * 60
        text = (
            f"{rule}\n Bash command\n\n   make\n\n Do you want to proceed?\n ❯ 1. Yes\n"
            "   2. Yes, and always allow access to a-long-folder/ from\n"
            "      this project\n   3. No\n\n Esc to cancel · Tab to amend"
        )
        found = read_dialog_text(text, cols=60)
        self.assertEqual(
            ["Yes", "Yes, and always allow access to a-long-folder/ from this project", "No"],
            option_labels(found),
        )

    def test_description_column_is_not_part_of_the_label(self) -> None:
        """What stands in a second column is not the label, nor is the tick of the current one."""
        text = (
            f"{RULE}\n  Select model\n\n  ❯ 1. Default (recommended) ✔  Use the default model\n"
            "                                (currently something)\n"
            "    2. Other                    Something else\n\n  Enter to confirm · Esc to cancel"
        )
        found = read_dialog_text(text)
        self.assertEqual(["Default (recommended)", "Other"], option_labels(found))
        self.assertEqual(
            ["Use the default model (currently something)", "Something else"],
            option_descriptions(found),
        )

    def test_descriptions_below_options_leave_out_buttons_and_hints(self) -> None:
        """Of what stands below an option its description is told, not a button and not a hint."""
        text = (
            f"{RULE}\n ☐ Checks\n\nWhich?\n\n❯ 1. [ ] Types\n  The type\n  checker\n"
            "  2. [✔] Style\n  3. [ ] Type something\n     Submit\n"
            f"{RULE}\n  4. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel"
        )
        self.assertEqual(
            ["The type checker", None, None, None], option_descriptions(read_dialog_text(text))
        )
        text = (
            f"{RULE}\n Ready to code?\n\n Would you like to proceed?\n\n ❯ 1. Keep 8080\n"
            "      No change\n   2. Tell Claude what to change\n"
            "      shift+tab to approve with this feedback"
        )
        self.assertEqual(["No change", None], option_descriptions(read_dialog_text(text)))

    def test_shown_plan_is_part_of_the_dialog_hash(self) -> None:
        """The rule below a shown plan does not cut the plan off: another plan, another hash."""
        dashes = "╌" * 80
        text = (
            f"{RULE}\n Ready to code?\n\n Here is Claude's plan:\n{dashes}\n 1. Do this\n"
            f" 2. Do that\n{dashes}\n\n{RULE}\n Ready to execute. Would you like to proceed?\n\n"
            " ❯ 1. Yes, and use auto mode\n   2. Yes, manually approve edits"
        )
        first, second = (
            read_dialog_text(text),
            read_dialog_text(text.replace("Do that", "Erase all")),
        )
        assert first is not None
        assert second is not None
        self.assertEqual(("Ready to code?", DialogKind.PLAN), (first.title, first.kind))
        self.assertNotEqual(first.frame_hash, second.frame_hash)

    def test_dialog_taller_than_the_pane_is_found_by_its_hints(self) -> None:
        """With its upper rule scrolled off, the hints below it still show it."""
        diff = "\n".join(f"   {n} +line" for n in range(10, 25))
        bottom = PERMISSION[PERMISSION.index(" Do you want") :]
        found = read_dialog_text(f"{diff}\n{bottom}")
        assert found is not None
        self.assertEqual((DialogKind.PERMISSION, 3), (found.kind, len(found.options)))

    def test_command_that_quotes_a_dialog_does_not_hide_the_options(self) -> None:
        """The options are the last ones, whatever the command looks like."""
        quote = "   cat <<X\n   Do you trust the files?\n   ❯ 1. No\n     2. Never\n   X"
        found = read_dialog_text(PERMISSION.replace("   touch made.txt", quote))
        self.assertEqual("Yes", option_labels(found)[0])
        assert found is not None
        self.assertEqual("Do you want to proceed?", found.question)


ASK = f"""● STUB
{RULE}
←  ☒ Colour  ☐ Features  ✔ Submit  →

Pick what
you need

❯ 1. [ ] Logging
  Write a log file
  2. [✔] Metrics
  Export counters
  3. [ ] Type something
     Next
{RULE}
  4. Chat about this

Enter to select · Tab/Arrow keys to navigate · Esc to cancel"""


class QuestionDialogTests(SynchronousTestCase):
    def test_multiple_choice_question_has_tabs_boxes_and_free_text(self) -> None:
        """Tabs, boxes and the free-text option are told apart."""
        found = read_dialog_text(ASK)
        assert found is not None
        self.assertEqual((DialogKind.QUESTION, "multi"), (found.kind, found.page))
        self.assertEqual("Pick what you need", found.question)
        self.assertEqual((("Colour", True), ("Features", False)), found.tabs)
        self.assertEqual(
            ["Logging", "Metrics", "Type something", "Chat about this"], option_labels(found)
        )
        self.assertEqual([False, True, False, None], [o.checked for o in found.options])
        self.assertEqual([3], [o.n for o in found.options if o.free_text])

    def test_typed_free_text_keeps_its_option(self) -> None:
        """The field keeps its place once something was typed into it."""
        found = read_dialog_text(ASK.replace("[ ] Type something", "[ ] my own words"))
        assert found is not None
        self.assertEqual([3], [o.n for o in found.options if o.free_text])

    def test_wrapped_key_hints_of_a_question_are_read(self) -> None:
        """On a phone's width the hints take two rows, the second from the first column."""
        narrow = ASK.replace(RULE, "─" * 46).replace(
            "Tab/Arrow keys to navigate · Esc to cancel", "↑/↓ to navigate · Esc to\ncancel"
        )
        self.assertEqual(4, len(option_labels(read_dialog_text(narrow, cols=46))))

    def test_long_descriptions_of_a_question_are_read(self) -> None:
        """On a question page descriptions may take more than three rows."""
        long = "  Write a log file\n" * 6
        found = read_dialog_text(ASK.replace("  Write a log file\n", long))
        self.assertEqual(4, len(option_labels(found)))

    def test_question_about_trust_is_a_question(self) -> None:
        """What the agent asks is never taken for the CLI's own dialog."""
        text = ASK.replace("Pick what\nyou need", "Is this one you trust?").replace(
            "[ ] Logging", "Yes, I trust this folder"
        )
        found = read_dialog_text(text.replace("[✔] Metrics", "No, exit"))
        assert found is not None
        self.assertEqual(DialogKind.QUESTION, found.kind)

    def test_hint_that_asks_is_not_the_question(self) -> None:
        """A tip may hold a question mark, also below the question."""
        for question in ("Is colour wanted?", "Do you want to proceed?"):
            text = PERMISSION.replace(
                "Do you want to proceed?", f"{question}\n\n Tip: unsure? Ask your team."
            )
            found = read_dialog_text(text)
            assert found is not None
            self.assertEqual(question, found.question)

    def test_preview_box_next_to_the_options_is_not_a_label(self) -> None:
        """A box to the right of the options is no part of the labels."""
        text = (
            f"{RULE}\n ☐ Layout\n\nWhich layout?\n\n"
            "❯ 1. Wide      ┌──────────────┐\n"
            "  2. Narrow    │ preview      │\n"
            "               └──────────────┘\n"
            "Enter to select · ↑/↓ to navigate · Esc to cancel"
        )
        self.assertEqual(["Wide", "Narrow"], option_labels(read_dialog_text(text)))


class OtherLayoutTests(SynchronousTestCase):
    def test_options_chosen_by_letter_name_the_letter(self) -> None:
        """Options picked by a letter name the letter."""
        text = " Cline needs permission\n\n Approve tool call?\n\n run\n\n  [y] Approve   [n] Deny"
        found = read_dialog_text(f"{text}\n\n model (0) $0.00", "cline")
        assert found is not None
        self.assertEqual(["y", "n"], [o.key for o in found.options])
        self.assertEqual((False, False), (found.digits_answer, found.needs_enter))

    def test_table_with_a_key_and_commands_is_no_sign_in(self) -> None:
        """Claude Code's C{/status}."""
        rows = ["  API key:                    ANTHROPIC_API_KEY", "  Features: /design-login"]
        self.assertIs(DialogKind.NOTICE, classify_dialog(rows, [], ["Status", "Config"], False))
        self.assertIs(DialogKind.API_KEY, classify_dialog(["Log in:"], [], ["a", "b"], False))

    def test_page_whose_choices_are_keys_has_them_as_options(self) -> None:
        text = (
            f"{RULE}\n  Auto mode can't check actions in this session\n\n"
            "  You can stay in auto mode and approve each action yourself.\n\n"
            "  Enter to stay in auto mode · shift+Tab to leave for accept edits mode and stop"
            " · Esc to cancel"
        )
        found = read_dialog_text(text)
        assert found is not None
        self.assertEqual("Auto mode can't check actions in this session", found.title)
        self.assertEqual(
            ["stay in auto mode", "leave for accept edits mode and stop", "cancel"],
            option_labels(found),
        )
        self.assertEqual(["Enter", "S-Tab", "Escape"], [o.key for o in found.options])

    def test_unnumbered_list_is_answered_by_cursor_and_enter(self) -> None:
        """A list without numbers is answered by cursor keys and Enter."""
        text = (
            f"{RULE}\n Rewind\n\n Restore the code to the point before\n\n"
            "   first prompt\n ❯ (current)\n\n Enter to continue · Esc to cancel"
        )
        found = read_dialog_text(text)
        assert found is not None
        self.assertEqual(
            (DialogKind.NOTICE, ["first prompt", "(current)"]), (found.kind, option_labels(found))
        )
        self.assertEqual((False, True), (found.digits_answer, found.needs_enter))
        self.assertEqual(2, found.selected_option and found.selected_option.n)

    def test_cn_dialog_with_tab_is_found_by_its_question(self) -> None:
        """Cn's dialog has neither numbers nor hints, but a known question."""
        text = (
            "╭" + "─" * 60 + "╮\n│ Bash(touch x)" + " " * 46 + "│\n"
            "│ Would you like to continue?" + " " * 32 + "│\n"
            "│ > Continue (tab)" + " " * 43 + "│\n"
            "│   Continue + don't ask again (shift+tab)" + " " * 19 + "│\n"
            "│   No, and tell Continue what to do differently (esc)" + " " * 7 + "│\n"
            "╰" + "─" * 60 + "╯"
        )
        found = read_dialog_text(text, "cn")
        assert found is not None
        self.assertEqual((DialogKind.PERMISSION, 3, 1), (found.kind, len(found.options), 1))
        self.assertEqual("Would you like to continue?", found.question)

    def test_side_by_side_options_need_their_colours(self) -> None:
        """Opencode's highlight is its background; without colours nothing is selected."""
        text = (
            "  ┃  △ Permission required\n  ┃    # Shell command\n  ┃  $ touch x\n  ┃\n"
            "\x1b[48;5;234m  ┃   Allow once   \x1b[48;5;215m Allow always \x1b[48;5;234m  Reject"
            "    enter confirm"
        )
        found = read_dialog_text(text, "opencode")
        assert found is not None
        self.assertEqual(["Allow once", "Allow always", "Reject"], option_labels(found))
        self.assertEqual(2, found.selected_option and found.selected_option.n)


class ImitationTests(SynchronousTestCase):
    """What the model, a file or the person writes is no dialog."""

    def test_dialog_quoted_above_the_composer_is_none(self) -> None:
        """The composer is there, so nothing else takes the keys."""
        for fake in (PERMISSION, TRUST, ASK, "● Steps:\n  1. build\n  2. test\n  3. ship"):
            found = read_status(f"❯ show me\n\n● Here:\n{fake}\n\n{COMPOSER}")
            self.assertEqual("idle", found.state, fake)

    def test_dialog_typed_into_the_composer_is_none(self) -> None:
        """A numbered list in the composer is text."""
        text = f"{RULE}\n❯\u00a01. Yes\n  2. No\n{RULE}\n  ? for shortcuts"
        self.assertEqual("idle", read_status(text).state)
        codex = "• Ready\n\n› 1. Yes\n  2. No\n\n  stub-model default · /srv\n  ? for shortcuts"
        self.assertEqual("idle", read_status(codex, "codex").state)
        gemini = "✦ Ready\n──────────────\n\n > 1. Yes\n   2. No\n\n workspace\n /srv     Auto"
        self.assertEqual("idle", read_status(gemini, "gemini").state)

    def test_model_list_over_a_form_is_no_dialog(self) -> None:
        """Options further up are not those of the form at the bottom."""
        form = (
            f"{RULE}\n  MCP server “x” requests your input\n\n  ❯ * Name: Type something…\n\n"
            "    Accept    Decline\n\n  Esc to cancel · ↑/↓ to navigate"
        )
        found = read_dialog_text(f"● 1. First\n  2. Second\n{form}")
        assert found is not None
        self.assertEqual((DialogKind.FORM, []), (found.kind, option_labels(found)))

    def test_fake_composer_over_a_dialog_does_not_hide_it(self) -> None:
        """Something that looks like a composer further up hides no dialog."""
        found = read_dialog_text(f"● Look:\n{COMPOSER}\n{PERMISSION}")
        self.assertEqual(3, len(option_labels(found)))

    def test_dialog_in_a_file_printed_by_a_shell_is_none(self) -> None:
        """A file that quotes a dialog, with a shell's prompt below."""
        for cli in ("claude", "codex", "gemini", "antigravity", "shell"):
            self.assertIsNone(read_dialog_text(f"$ cat notes\n{PERMISSION}\nme@host:~$", cli), cli)

    def test_dialog_in_the_transcript_view_is_none(self) -> None:
        """The transcript has no composer and may quote anything."""
        text = f"{PERMISSION}\n{RULE}\n  Showing detailed transcript · ctrl+o to toggle"
        self.assertIsNone(read_dialog_text(text))

    def test_unmarked_list_at_the_bottom_is_no_dialog(self) -> None:
        """While a client starts, text alone is on the screen."""
        self.assertIsNone(
            read_dialog_text("Tips for getting started:\n1. Ask questions\n2. Be specific")
        )

    def test_dialog_of_a_dead_pane_is_none(self) -> None:
        """Nobody answers a dialog whose process is gone."""
        self.assertIsNone(
            read_dialog_text(f"{PERMISSION}\n\nPane is dead (status 1, Fri Nov 20 10:10:51)")
        )

    def test_spinner_with_a_key_is_no_dialog(self) -> None:
        """A spinner that names its key is work, not a dialog."""
        self.assertIsNone(read_dialog_text("> go\n\n⠇ Thinking... (esc to cancel)", "gemini"))

    def test_empty_screen_is_unknown(self) -> None:
        """Nothing is nothing."""
        self.assertEqual("unknown", read_status("").state)
        self.assertEqual(-1, text_frame("").last_row)
