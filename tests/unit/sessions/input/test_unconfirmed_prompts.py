"""Prompts of which nobody is sure, and those of an agent whose first screen may bring them back."""

from __future__ import annotations

from tests.unit.sessions.input.submission_harness import AGAIN, DONE, LONG, SubmissionCase
from tests.unit.sessions.scripted_agent import HomeAgent
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.mux.interface import PaneSpec
from tservice.mux.testing.multiplexer import FakeProgram
from tservice.sessions.input.submitter import NOT_SURE
from tservice.sessions.input.unconfirmed_prompts import REMEMBERED

ANN = Identity(username="ann", admin=False)


class DoubtTests(SubmissionCase):
    """Prompts that nobody is sure of."""

    def doubted(self, text: str = "hello\r", seq: int = 1) -> None:
        self.agent.deaf = 1
        self.agent.numb = True
        answer = self.send(text, seq)
        self.spend(LONG)
        self.refused(answer)

    def test_its_number_stays_taken(self) -> None:
        self.doubted()
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(again))
        self.assertEqual((["hello"], 1), (self.hosted.pastes, self.enters))
        self.agent.input_received(b"\r")
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_asked_for_again_it_is_submitted_once_its_enter_was_lost_for_sure(self) -> None:
        """Its agent answers keys by now, and the text stands there as it was typed."""
        self.doubted()
        self.agent.numb = False
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual((["hello"], ["hello"]), (self.hosted.pastes, self.agent.prompts))
        self.assertEqual(2, self.enters)

    def test_but_not_with_what_somebody_added(self) -> None:
        self.doubted()
        self.agent.numb = False
        self.agent.input_received(b" and goodbye")
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertIn(NOT_SURE, self.refused(again))
        self.assertEqual(([], 1), (self.agent.prompts, self.enters))

    def test_nor_for_somebody_whose_right_to_type_has_ended(self) -> None:
        self.doubted()
        self.agent.numb = False
        self.sessions.set_sender_check(lambda who, session: False)
        again = self.type(self.session, "hello\r", client_id="c", seq=1, sender=ANN)
        self.spend(LONG)
        error: ServiceError = self.failureResultOf(again, ServiceError).value
        self.assertEqual((ErrorCode.FORBIDDEN, 1), (error.code, self.enters))

    def test_nor_for_one_whose_right_ends_while_its_agent_is_asked(self) -> None:
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

    def test_it_is_a_draft_to_the_next_one(self) -> None:
        self.doubted()
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next"], "hello"), (self.agent.prompts, self.agent.text))

    def test_one_that_reads_the_same_takes_its_place(self) -> None:
        """Somebody who sends it under another number wants it once."""
        self.doubted("one\ntwo\r")
        answer = self.send("one\ntwo\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["one\ntwo"], ""), (self.agent.prompts, self.agent.text))

    def test_a_refusal_in_between_leaves_it_what_it_is(self) -> None:
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

    def test_a_composer_without_it_is_no_proof_behind_another_prompt(self) -> None:
        """It was put aside for that one; Claude Code brings it back a moment later."""
        self.doubted()
        self.put_aside()
        self.assertIn(NOT_SURE, self.refused(self.send("hello\r")))

    def test_nor_is_it_where_nobody_tells(self) -> None:
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

    def test_one_that_its_agent_would_have_told_of_was_taken_away(self) -> None:
        self.doubted()
        self.agent.clear()
        self.agent.draw()
        self.assertIn(NOT_SURE, self.refused(self.send("hello\r")))

    def test_where_nobody_tells_a_composer_without_it_has_to_do(self) -> None:
        self.gate.tells = None
        self.doubted()
        self.agent.clear()
        self.agent.draw()
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_no_more_than_a_few_are_remembered(self) -> None:
        for seq in range(1, REMEMBERED + 2):
            self.agent.clear()
            self.agent.draw()
            self.doubted(seq=seq)
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r", 1)))
        self.refused(self.send("hello\r", 2))

    def test_an_agent_that_knows_no_key_but_the_one_that_takes_a_letter_back(self) -> None:
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

    def test_what_nobody_can_take_out_is_said_to_be_the_service_s_own(self) -> None:
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

    def test_the_service_after_a_crash_knows_it(self) -> None:
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

    def test_the_service_after_a_crash_submits_it_with_proof(self) -> None:
        self.doubted()
        self.restarted()
        self.agent.numb = False
        again = self.send("hello\r")
        self.spend(LONG)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual((["hello"], ["hello"]), (self.hosted.pastes, self.agent.prompts))
        self.restarted()
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_a_caret_that_is_elsewhere(self) -> None:
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

    def test_a_process_that_is_gone_settles_it(self) -> None:
        self.doubted()
        self.hosted.exit_program(0)
        self.run_now(self.sessions.start(self.session.id, granted=True))
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))


class HomeTests(SubmissionCase):
    """An agent whose first screen is another one than that of its conversation."""

    mode = "opencode"

    def program(self, spec: PaneSpec) -> FakeProgram:
        self.agent = self.home = HomeAgent()
        return self.agent

    def test_a_prompt_waits_for_the_end_of_the_first_screen(self) -> None:
        """opencode empties the composer there, and drops what is typed before it goes."""
        self.gate.tells = None
        first, second = self.send("hello\r"), self.send("next\r", 2)
        self.spend(2)
        self.assertNoResult(first)
        self.assertEqual(["hello"], self.hosted.pastes)
        self.home.leave_home()
        self.spend(LONG)
        self.assertEqual((DONE, DONE), (self.successResultOf(first), self.successResultOf(second)))
        self.assertEqual((["hello", "next"], 2), (self.agent.prompts, self.enters))

    def test_it_is_noted_when_it_is_submitted(self) -> None:
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

    def test_one_that_was_submitted_after_all_is_not_typed_again(self) -> None:
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

    def test_one_of_many_rows_is_put_aside_for_each_that_comes(self) -> None:
        """It is no draft of somebody that cannot be typed again: what it was is known."""
        text = "the first row\nthe second\nthe third"
        self.doubted(text)
        for seq, prompt in enumerate(("next", "last"), 2):
            answer = self.send(f"{prompt}\r", seq)
            self.spend(LONG)
            self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next", "last"], text), (self.agent.prompts, self.agent.text))

    def test_so_it_is_where_the_screen_moves_under_the_keys(self) -> None:
        self.hosted.screen_changes.extend((True, False) * 40)
        self.test_one_of_many_rows_is_put_aside_for_each_that_comes()

    def test_a_draft_is_typed_back_where_the_screen_moves(self) -> None:
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

    def test_a_prompt_is_delivered_where_that_is_in_vain(self) -> None:
        self.test_a_draft_is_typed_back_where_the_screen_moves()
        self.hosted.screen_changes.extend((False, False, *(True,) * 20))
        answer = self.send("last\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next", "last"], ""), (self.agent.prompts, self.agent.text))

    def test_what_somebody_else_wrote_on_many_rows_keeps_it_from_being_typed(self) -> None:
        self.doubted("the first row\nthe second\nthe third")
        self.agent.text += "\nand one of mine"
        self.agent.draw()
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertIn("holds a draft", self.refused(answer))
        self.assertEqual([], self.agent.prompts)
        self.assertTrue(self.agent.text.endswith("and one of mine"))

    def test_a_text_that_comes_back_was_not_submitted(self) -> None:
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

    def test_a_command_may_stay_there(self) -> None:
        answer = self.send("/theme\r")
        self.spend(8)
        self.assertEqual(DONE, self.successResultOf(answer))
