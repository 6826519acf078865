"""Whether a prompt was submitted: Enter is pressed again only where the first was lost for sure."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.sessions.input.type.submission_harness import DONE, LONG, SubmissionCase
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.input.type.draft_stash import is_retypable
from tservice.sessions.input.type.prompt_runner import TAKING, UNSEEN
from tservice.sessions.input.type.submitter import AGAIN, LEAVING, NOT_SURE, STANDING
from tservice.sessions.input.type.typist import PASTE_GAP
from tservice.sessions.interfaces import InputDelivery


class SubmissionTests(SubmissionCase):
    """From the text to its Enter, and what is believed of it."""

    def test_enter_is_sent_after_the_text_was_read(self) -> None:
        """An agent that stands still would read both at once, which is how an Enter gets lost."""
        self.agent.stands_still = True
        answer = self.send("hello\r")
        self.spend(2)
        self.assertEqual((["hello"], []), (self.hosted.pastes, self.hosted.keys))
        self.agent.go_on()
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], ["Enter"]), (self.agent.prompts, self.hosted.keys))

    def test_half_drawn_screen_shows_no_text(self) -> None:
        """Neither before it is put in nor behind that: Gemini CLI draws its whole screen anew."""
        self.gate.tells = None
        self.half_draw(True)
        answer = self.send("hello\r")
        self.spend(0.5)
        self.assertEqual([], self.hosted.pastes)
        self.agent.stands_still = True
        self.half_draw(False)
        self.spend(0.5)
        self.assertEqual(["hello"], self.hosted.pastes)
        self.half_draw(True)
        self.spend(1)
        self.assertEqual(0, self.enters)
        self.agent.half_drawn = False
        self.agent.go_on()
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 1), (self.agent.prompts, self.enters))

    def test_half_drawn_screen_after_the_enter_proves_nothing(self) -> None:
        """A prompt of before stands where the composer may be: Gemini CLI, stopped for 2 s."""
        self.gate.tells = None
        self.send("before\r")
        self.spend(2)
        self.agent.ends_line = True
        received = self.agent.input_received

        def enter(data: bytes) -> None:
            self.agent.half_drawn = data == b"\r" and self.agent.ends_line
            received(data)

        self.agent.input_received = enter  # type: ignore[method-assign]
        answer = self.send("hello there\r", 2)
        self.spend(2)
        self.assertNoResult(answer)
        self.half_draw(False)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(["before", "hello there"], self.agent.prompts)

    def test_misplaced_caret_is_waited_for_briefly(self) -> None:
        self.gate.tells = None
        self.send("before\r")
        self.spend(2)
        received = self.agent.input_received

        def enter(data: bytes) -> None:
            received(data)
            self.half_draw(data == b"\r")

        self.agent.input_received = enter  # type: ignore[method-assign]
        answer = self.send("hello there\r", 2)
        self.spend(sum(STANDING) + 2)
        self.assertEqual(DONE, self.successResultOf(answer))

    def test_repeatedly_half_drawn_screen_is_read_in_between(self) -> None:
        """Claude Code, stopped at random behind a paste of 64 KiB."""
        self.agent.stands_still = True
        answer = self.send("hello\r")
        self.spend(0.5)
        for _ in range(3):
            self.half_draw(True)
            self.spend(UNSEEN - 0.5)
            self.half_draw(False)
            self.spend(0.5)
        self.assertEqual((["hello"], 0), (self.hosted.pastes, self.enters))
        self.agent.go_on()
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 1), (self.agent.prompts, self.enters))

    def test_lost_enter_is_repeated_although_the_text_was_not_seen(self) -> None:
        self.agent.deaf = 1
        self.agent.stands_still = True
        answer = self.send("hello\r")
        self.spend(0.5)
        self.half_draw(True)
        self.spend(UNSEEN + 2)
        self.assertEqual((["hello"], 1), (self.hosted.pastes, self.enters))
        self.agent.half_drawn = False
        self.agent.go_on()
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def half_draw(self, half: bool) -> None:
        self.agent.half_drawn = half
        self.agent.draw()

    def test_text_never_seen_is_not_delivered(self) -> None:
        """Its Enter may have become part of the paste; a composer without it proves nothing."""
        self.gate.tells = None
        self.agent.stands_still = True
        answer = self.send("hello\r")
        self.spend(sum(TAKING) - 1)
        self.assertEqual((["hello"], 0), (self.hosted.pastes, self.enters))
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(answer))
        again = self.send("hello\r")
        self.spend(1)
        self.assertIn(NOT_SURE, self.refused(again))

    def test_text_that_appears_late_is_delivered(self) -> None:
        self.gate.tells = None
        self.agent.deaf = 1
        self.agent.stands_still = True
        answer = self.send("hello\r")
        self.spend(sum(TAKING) + 1)
        self.assertEqual(1, self.enters)
        self.agent.go_on()
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_agent_stalled_after_the_enter_gets_no_second_enter(self) -> None:
        answer = self.send("hello\r")
        self.spend(PASTE_GAP / 2)
        self.agent.stands_still = True
        self.spend(PASTE_GAP + sum(LEAVING) + 3)
        self.assertNoResult(answer)
        self.agent.go_on()
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 1), (self.agent.prompts, self.enters))

    def test_lost_enter_is_pressed_again(self) -> None:
        """The agent tells of no such prompt, and its caret answers: it was lost."""
        self.agent.deaf = 1
        answer = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_moving_screen_does_not_stop_a_repeated_enter(self) -> None:
        """The key is not pressed then: an agent in the midst of an answer draws all the time."""
        self.agent.deaf = 1
        self.hosted.screen_changes.extend((False, False, False, False, True))
        answer = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_outcome_of_the_last_enter_is_checked(self) -> None:
        self.agent.deaf = AGAIN
        answer = self.send("hello\r")
        self.spend(2 * LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 1 + AGAIN), (self.agent.prompts, self.enters))

    def test_lost_enter_is_repeated_without_confirmation(self) -> None:
        self.agent.deaf = 1
        self.gate.tells = None
        answer = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_enter_that_became_a_line_end_is_pressed_again(self) -> None:
        """Gemini CLI does that right behind a large paste; the caret has nowhere to go there."""
        self.agent.ends_line = True
        self.gate.tells = None
        answer = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_inserted_line_end_is_removed_once(self) -> None:
        """Where that is read late, a second one would take a letter."""
        self.agent.ends_line = True
        self.gate.tells = None
        answer = self.send("hello\r")
        while not self.agent.text.endswith("\n"):
            self.spend(0.05)
        self.agent.stands_still = True
        self.spend(sum(LEAVING) + 8)
        self.assertEqual(1, self.hosted.keys.count("BSpace"))
        self.agent.go_on()
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_proof_of_one_lost_enter_does_not_count_for_the_next(self) -> None:
        """Three that Gemini CLI read at once submitted the text three times."""
        self.agent.ends_line = True
        self.gate.tells = None
        answer = self.send("hello\r")
        while "BSpace" not in self.hosted.keys:
            self.spend(0.05)
        self.agent.stands_still = True
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(answer))
        self.agent.go_on()
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_inserted_line_end_is_noticed_in_a_composer_growing_upwards(self) -> None:
        """The caret's row of the screen stays what it was then."""
        self.agent.height = 12
        self.agent.draw()
        self.test_enter_that_became_a_line_end_is_pressed_again()

    def test_enter_is_not_repeated_without_an_answering_caret(self) -> None:
        self.agent.deaf = 1
        self.agent.numb = True
        answer = self.send("hello\r")
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(answer))
        self.assertEqual(1, self.enters)

    def test_submitted_text_that_stays_is_removed(self) -> None:
        """Claude Code keeps a paste in its composer at times; an Enter would send it again."""
        self.agent.kept = 1
        answer = self.send("one\ntwo\r")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["one\ntwo"], 1, ""), (self.agent.prompts, self.enters, self.agent.text))

    def test_submitted_text_that_returns_later_is_no_draft(self) -> None:
        self.send("hello there\r")
        self.spend(1)
        self.agent.text = "hello there"
        self.agent.draw()
        answer = self.send("next\r", 2)
        self.spend(5)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello there", "next"], ""), (self.agent.prompts, self.agent.text))

    def test_returned_text_after_the_caret_is_removed(self) -> None:
        """A key that takes away what is before it takes nothing there."""
        self.test_submitted_text_that_returns_later_is_no_draft()
        self.agent.text = "next"
        self.agent.input_received(b"\x1b[1~")
        answer = self.send("last\r", 3)
        self.spend(8)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(
            (["hello there", "next", "last"], ""), (self.agent.prompts, self.agent.text)
        )

    def test_lost_enter_before_a_kill_is_repeated(self) -> None:
        self.agent.deaf = 1
        self.send("hello\r")
        self.spend(PASTE_GAP + 0.1)
        self.machine.restart()
        self.spend(LONG)
        self.assertEqual(["hello"], self.agent.prompts)


class ComposerDraftTests(SubmissionCase):
    """What somebody left in the composer."""

    def draft(self, text: str) -> None:
        self.agent.text = text
        self.agent.draw()

    def test_draft_is_put_aside_and_restored(self) -> None:
        self.draft("half a thought")
        answer = self.send("hello\r")
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], "half a thought"), (self.agent.prompts, self.agent.text))
        self.assertEqual(1, self.enters)

    def test_draft_is_put_aside_on_a_moving_screen(self) -> None:
        self.hosted.screen_changes.extend((True, True))
        self.test_draft_is_put_aside_and_restored()

    def test_single_letter_under_the_caret_is_a_draft(self) -> None:
        """Drawn as the first letter of a hint is."""
        self.agent.text = "n"
        self.agent.input_received(b"\x1b[1~")
        answer = self.send("jjj\r")
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["jjj"], "n", 1), (self.agent.prompts, self.agent.text, self.enters))

    def test_text_appearing_after_the_prompt_is_removed(self) -> None:
        """Claude Code, stopped between an Enter and its drawing, brings back a letter."""
        paste = self.agent.input_received

        def received(data: bytes) -> None:
            if b"jjj" in data:
                self.agent.behind = "n"
            paste(data)

        self.agent.input_received = received  # type: ignore[method-assign]
        answer = self.send("jjj\r")
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["jjj"], ["C-k", "Enter"]), (self.agent.prompts, self.hosted.keys))

    def test_short_prompt_contained_in_a_draft_is_typed(self) -> None:
        self.draft("bananas")
        answer = self.send("a\r")
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["a"], "bananas", 1), (self.agent.prompts, self.agent.text, self.enters))

    def test_earlier_prompt_on_a_half_drawn_screen_is_no_draft(self) -> None:
        self.gate.tells = None
        self.send("r\r")
        self.spend(3)
        self.agent.half_drawn = True
        self.agent.draw()
        answer = self.send("hello\r", 2)
        self.spend(2.5)
        self.assertEqual(["Enter"], self.hosted.keys)
        self.agent.half_drawn = False
        self.agent.draw()
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["r", "hello"], ""), (self.agent.prompts, self.agent.text))
        self.assertEqual(["Enter", "Enter"], self.hosted.keys)

    def test_draft_that_cannot_be_put_aside_refuses_the_prompt(self) -> None:
        self.draft("half a thought")
        self.agent.stands_still = True
        answer = self.send("hello\r")
        self.spend(LONG)
        self.assertIn("nothing was typed", self.refused(answer))
        self.assertEqual([], self.hosted.pastes)


class RetypingTests(SynchronousTestCase):
    """Agents that do not put a draft back themselves."""

    def test_only_completely_read_drafts_are_retyped(self) -> None:
        stand_ins = (
            "[Pasted ~18 lines]",
            "[Pasted Text: 409 lines]",
            "see [Pasted Content 1024 chars]",
            "[paste #1 +20 lines]",
        )
        for draft in (*stand_ins, "two\nrows"):
            self.assertFalse(is_retypable(draft), draft)
        self.assertTrue(is_retypable("half a thought [pasted]"))


class PromptEndTests(SubmissionCase):
    """What an agent makes of a prompt's end."""

    def test_blank_is_added_after_a_final_backslash_or_mention(self) -> None:
        for number, text in enumerate(("C:\\\\dir\\", "see @src", "a @b c"), 1):
            self.successResultOf(self.sent(text, number))
        self.assertEqual(["C:\\\\dir\\ ", "see @src ", "a @b c"], self.hosted.pastes)

    def sent(self, text: str, number: int) -> Deferred[InputDelivery]:
        answer = self.send(f"{text}\r", number)
        self.spend(5)
        return answer

    def test_line_ends_of_any_kind_make_one_prompt(self) -> None:
        self.successResultOf(self.sent("one\r\ntwo\rthree\r\nfour", 1))
        self.assertEqual(["one\ntwo\nthree\nfour"], self.agent.prompts)

    def test_blank_prompt_is_refused_and_frees_its_number(self) -> None:
        for text in (" \r", "\n\r", "\t \r\n", " \r\n \r"):
            error = self.failureResultOf(self.send(text), ServiceError).value
            self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
            self.assertIn("input", error.message)
        self.successResultOf(self.sent("hello", 1))

    def test_bare_enter_is_a_key(self) -> None:
        self.assertEqual(DONE, self.successResultOf(self.send("\r")))


_PAGE_RULE = "─" * 60


class AgentCommandTests(SubmissionCase):
    """Commands of the agent's own."""

    def test_opened_picker_is_reported_and_gets_no_enter(self) -> None:
        self.agent.pickers.add("/model")
        self.agent.stands_still = True
        answer = self.send("/model\r")
        self.spend(1)
        self.agent.go_on()
        self.spend(PASTE_GAP / 2)
        self.agent.stands_still = True
        self.spend(1)
        self.agent.go_on()
        self.spend(LONG)
        opened = InputDelivery(delivered=True, opened="picker")
        self.assertEqual(opened, self.successResultOf(answer))
        self.assertEqual(1, self.enters)

    def test_slowly_opening_list_is_reported(self) -> None:
        self.agent.pickers.add("/resume")
        self.agent.stands_still = True
        answer = self.send("/resume\r")
        self.spend(1)
        self.agent.go_on()
        self.spend(PASTE_GAP / 2)
        self.agent.half_drawn = True
        self.spend(6)
        self.assertNoResult(answer)
        self.agent.half_drawn = False
        self.agent.draw()
        self.spend(LONG)
        opened = InputDelivery(delivered=True, opened="picker")
        self.assertEqual(opened, self.successResultOf(answer))
        self.assertEqual(1, self.enters)

    def test_page_below_its_command_is_reported_soon(self) -> None:
        """The row of the command above a page looks like a composer that holds it."""
        self.agent.pickers.add("/agents")
        self.agent.page = [_PAGE_RULE, " Agents", " Esc to close"]
        self.agent.prompts.append("/agents")
        answer = self.send("/agents\r")
        self.spend(0.5)
        self.gate.asking = "notice dialog: Agents"
        self.spend(3)
        opened = InputDelivery(delivered=True, opened="picker")
        self.assertEqual(opened, self.successResultOf(answer))
        self.assertEqual(1, self.enters)

    def test_command_that_opens_nothing_is_delivered(self) -> None:
        answer = self.send("/clear\r")
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))

    def test_command_that_begins_a_turn_is_awaited_briefly(self) -> None:
        answer = self.send("/init\r")
        self.spend(0.5)
        self.agent.half_drawn = True
        self.agent.draw()
        self.spend(10)
        self.assertEqual(DONE, self.successResultOf(answer))
