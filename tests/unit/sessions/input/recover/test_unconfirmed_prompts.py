"""Prompts of which nobody is sure, and those of an agent whose first screen may bring them back."""

from __future__ import annotations

from tests.callers import GRANTED, make_caller
from tests.fakes.multiplexer.multiplexer import FakeProgram
from tests.unit.sessions.input.type.submission_harness import AGAIN, DONE, LONG, SubmissionCase
from tests.unit.sessions.scripted_agent import HomeAgent
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import PaneSpec
from tservice.sessions.input.recover.unconfirmed_prompts import REMEMBERED
from tservice.sessions.input.type.submitter import NOT_SURE

ANN = make_caller(username="ann", admin=False)


class DoubtTests(SubmissionCase):
    """Prompts that nobody is sure of."""

    def doubted(self, text: str = "hello\r", seq: int = 1) -> None:
        self.agent.deaf = 1
        self.agent.numb = True
        answer = self.send(text, seq)
        self.spend(LONG)
        self.refused(answer)

    def test_unconfirmed_prompt_keeps_its_sequence_number(self) -> None:
        self.doubted()
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(again))
        self.assertEqual((["hello"], 1), (self.hosted.pastes, self.enters))
        self.agent.input_received(b"\r")
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_unconfirmed_prompt_is_submitted_on_repeat_once_its_enter_is_lost(self) -> None:
        """Its agent answers keys by now, and the text stands there as it was typed."""
        self.doubted()
        self.agent.numb = False
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual((["hello"], ["hello"]), (self.hosted.pastes, self.agent.prompts))
        self.assertEqual(2, self.enters)

    def test_unconfirmed_prompt_changed_by_a_person_is_not_submitted(self) -> None:
        self.doubted()
        self.agent.numb = False
        self.agent.input_received(b" and goodbye")
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(again))
        self.assertEqual(([], 1), (self.agent.prompts, self.enters))

    def test_unconfirmed_prompt_is_not_submitted_for_a_sender_without_the_right(self) -> None:
        self.doubted()
        self.agent.numb = False
        self.sessions.set_sender_check(lambda who, session: False)
        again = self.type(self.session, "hello\r", client_id="c", seq=1, sender=ANN)
        self.spend(LONG)
        error: ServiceError = self.failureResultOf(again, ServiceError).value
        self.assertEqual((ErrorCode.FORBIDDEN, 1), (error.code, self.enters))

    def test_right_lost_while_the_agent_is_probed_submits_nothing(self) -> None:
        self.doubted()
        self.agent.numb = False
        right = [True]
        self.sessions.set_sender_check(lambda who, session: right[0])
        again = self.type(self.session, "hello\r", client_id="c", seq=1, sender=ANN)
        self.spend(0.3)
        self.assertNoResult(again)
        right[0] = False
        self.spend(LONG)
        error: ServiceError = self.failureResultOf(again, ServiceError).value
        self.assertEqual((ErrorCode.FORBIDDEN, 1), (error.code, self.enters))

    def test_unconfirmed_prompt_is_a_draft_to_the_next_prompt(self) -> None:
        self.doubted()
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next"], "hello"), (self.agent.prompts, self.agent.text))

    def test_equal_prompt_replaces_an_unconfirmed_one(self) -> None:
        """Somebody who sends it under another number wants it once."""
        self.doubted("one\ntwo\r")
        answer = self.send("one\ntwo\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["one\ntwo"], ""), (self.agent.prompts, self.agent.text))

    def test_refused_prompt_in_between_leaves_the_unconfirmed_one(self) -> None:
        """A prompt that was not typed put nothing aside."""
        self.doubted()
        self.gate.asking = "a dialog"
        refused = self.send("next\r", 2)
        self.spend(LONG)
        self.assertIn("nothing was typed", self.refused(refused))
        self.gate.asking, self.agent.numb = None, False
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual((["hello"], ["hello"]), (self.hosted.pastes, self.agent.prompts))

    def test_empty_composer_after_another_prompt_is_no_proof(self) -> None:
        """It was put aside for that one; Claude Code brings it back a moment later."""
        self.doubted()
        self.put_aside()
        self.assertIn(NOT_SURE, self.refused(self.send("hello\r")))

    def test_empty_composer_is_no_proof_without_confirmation(self) -> None:
        self.gate.tells = None
        self.doubted()
        self.put_aside()
        self.assertIn(NOT_SURE, self.refused(self.send("hello\r")))

    def put_aside(self) -> None:
        """Another prompt is given; what stood there before is not back yet."""
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.agent.clear()
        self.agent.draw()

    def test_unconfirmed_prompt_missing_in_the_composer_was_removed(self) -> None:
        self.doubted()
        self.agent.clear()
        self.agent.draw()
        self.assertIn(NOT_SURE, self.refused(self.send("hello\r")))

    def test_empty_composer_is_proof_where_the_agent_confirms_nothing(self) -> None:
        self.gate.tells = None
        self.doubted()
        self.agent.clear()
        self.agent.draw()
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_unconfirmed_prompts_are_bounded(self) -> None:
        for seq in range(1, REMEMBERED + 2):
            self.agent.clear()
            self.agent.draw()
            self.doubted(seq=seq)
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r", 1)))
        self.refused(self.send("hello\r", 2))

    def test_agent_that_only_knows_backspace_is_probed(self) -> None:
        """It neither shows a caret nor puts aside; a text of the service's own blocks nothing."""
        self.agent.plain = True
        text = "the first row\nthe second, which is longer\n\tthe third"
        self.doubted(f"{text}\r")
        for seq, prompt in enumerate(("next", "last"), 2):
            answer = self.send(f"{prompt}\r", seq)
            self.spend(LONG)
            self.assertTrue(self.successResultOf(answer).put_aside)
        self.assertEqual((["next", "last"], text), (self.agent.prompts, self.agent.text))
        again = self.send(f"{text}\r")
        self.spend(LONG)
        self.assertIn("put aside", self.refused(again))

    def test_unremovable_text_is_reported_as_an_earlier_prompt(self) -> None:
        self.agent.plain = True
        self.doubted()
        self.agent.input_received = lambda data: None  # type: ignore[method-assign]
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertIn("an earlier prompt", self.refused(answer))
        self.assertEqual("hello", self.agent.text)

    def restarted(self) -> None:
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.spend(1)

    def test_unconfirmed_prompt_is_known_after_a_crash(self) -> None:
        self.agent.plain = True
        self.doubted("one\ntwo\r")
        self.restarted()
        again = self.send("one\ntwo\r")
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(again))
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertTrue(self.successResultOf(answer).put_aside)
        self.assertEqual((["next"], "one\ntwo"), (self.agent.prompts, self.agent.text))

    def test_unconfirmed_prompt_is_submitted_with_proof_after_a_crash(self) -> None:
        self.doubted()
        self.restarted()
        self.agent.numb = False
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual((["hello"], ["hello"]), (self.hosted.pastes, self.agent.prompts))
        self.restarted()
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_unconfirmed_prompt_is_known_although_the_caret_is_elsewhere(self) -> None:
        """Such a composer is never seen for sure; the service's own text is known all the same."""
        draw = self.agent.draw

        def elsewhere() -> None:
            draw()
            self.agent._tty.emit_output(b"\x1b[1;1H")

        self.agent.plain, self.agent.draw = True, elsewhere  # type: ignore[method-assign]
        self.doubted()
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertTrue(self.successResultOf(answer).put_aside)
        self.assertEqual((["next"], "hello"), (self.agent.prompts, self.agent.text))

    def test_ended_process_settles_unconfirmed_prompts(self) -> None:
        self.doubted()
        self.hosted.exit_program(0)
        self.run_now(self.sessions.start(self.session.id, GRANTED))
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))


class HomeTests(SubmissionCase):
    """An agent whose first screen is another one than that of its conversation."""

    mode = "opencode"

    def program(self, spec: PaneSpec) -> FakeProgram:
        self.agent = self.home = HomeAgent()
        return self.agent

    def test_prompt_waits_for_the_end_of_the_first_screen(self) -> None:
        """Opencode empties the composer there, and drops what is typed before it goes."""
        self.gate.tells = None
        first, second = self.send("hello\r"), self.send("next\r", 2)
        self.spend(2)
        self.assertNoResult(first)
        self.assertEqual(["hello"], self.hosted.pastes)
        self.home.leave_home()
        self.spend(LONG)
        self.assertEqual((DONE, DONE), (self.successResultOf(first), self.successResultOf(second)))
        self.assertEqual((["hello", "next"], 2), (self.agent.prompts, self.enters))

    def test_submission_time_is_recorded_at_the_enter(self) -> None:
        """And not when that is known, by which time its conversation is no longer near."""
        self.gate.tells = None
        self.home.leave_home()
        answer = self.send("hello\r")
        self.spend(2)
        self.assertNoResult(answer)
        noted = self.sessions.get(self.session.id).last_submit_at
        self.assertIsNotNone(noted)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(noted, self.sessions.get(self.session.id).last_submit_at)

    def test_prompt_submitted_late_is_not_typed_again(self) -> None:
        """It does not bring back by itself what was put aside."""
        self.home.leave_home()
        self.agent.deaf, self.agent.numb = 1, True
        answer = self.send("hello\r")
        self.spend(LONG)
        self.refused(answer)
        self.agent.numb = False
        take = self.agent.input_received

        def received(data: bytes) -> None:
            if b"next" in data:
                # It had read the Enter all along, and writes so only now.
                self.agent.prompts.append("hello")
            take(data)

        self.agent.input_received = received  # type: ignore[method-assign]
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello", "next"], ""), (self.agent.prompts, self.agent.text))

    def doubted(self, text: str) -> None:
        self.gate.tells = None
        self.home.leave_home()
        self.agent.deaf, self.agent.numb = 1, True
        # Without a number nobody can ask for it again.
        answer = self.type(self.session, f"{text}\r")
        self.spend(LONG)
        self.refused(answer)
        self.agent.numb = False

    def test_unconfirmed_prompt_of_many_rows_is_put_aside_each_time(self) -> None:
        """It is no draft of somebody that cannot be typed again: what it was is known."""
        text = "the first row\nthe second\nthe third"
        self.doubted(text)
        for seq, prompt in enumerate(("next", "last"), 2):
            answer = self.send(f"{prompt}\r", seq)
            self.spend(LONG)
            self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next", "last"], text), (self.agent.prompts, self.agent.text))

    def test_unconfirmed_prompt_is_put_aside_on_a_moving_screen(self) -> None:
        self.hosted.screen_changes.extend((True, False) * 40)
        self.test_unconfirmed_prompt_of_many_rows_is_put_aside_each_time()

    def test_draft_is_retyped_on_a_moving_screen(self) -> None:
        """A key is pressed for its end and one to wipe it; its text comes third."""
        self.gate.tells = None
        self.home.leave_home()
        self.agent.text = "half a thought"
        self.agent.draw()
        self.hosted.screen_changes.extend((False, False, True, True))
        answer = self.send("next\r")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next"], "half a thought"), (self.agent.prompts, self.agent.text))

    def test_prompt_is_delivered_where_retyping_the_draft_fails(self) -> None:
        self.test_draft_is_retyped_on_a_moving_screen()
        self.hosted.screen_changes.extend((False, False, *(True,) * 20))
        answer = self.send("last\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next", "last"], ""), (self.agent.prompts, self.agent.text))

    def test_draft_of_many_rows_by_a_person_refuses_the_prompt(self) -> None:
        self.doubted("the first row\nthe second\nthe third")
        self.agent.text += "\nand one of mine"
        self.agent.draw()
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertIn("holds a draft", self.refused(answer))
        self.assertEqual([], self.agent.prompts)
        self.assertTrue(self.agent.text.endswith("and one of mine"))

    def test_text_that_comes_back_was_not_submitted(self) -> None:
        """opencode, stopped on its way from its first screen, showed an empty composer for 2 s."""
        self.gate.tells = None
        self.home.leave_home()
        self.home.deaf = 1
        received = self.home.input_received

        def enter(data: bytes) -> None:
            received(data)
            if data == b"\r" and not self.home.prompts:
                self.home.text, self.kept = "", self.home.text
                self.home.draw()

        self.home.input_received = enter  # type: ignore[method-assign]
        answer = self.send("hello\r")
        self.spend(2)
        self.assertNoResult(answer)
        self.home.text = self.kept
        self.home.draw()
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], ""), (self.home.prompts, self.home.text))

    def test_command_may_stay_on_the_first_screen(self) -> None:
        answer = self.send("/theme\r")
        self.spend(8)
        self.assertEqual(DONE, self.successResultOf(answer))
