"""Prompts of which nobody is sure, and those of an agent whose first screen may bring them back."""

from __future__ import annotations

from tests.unit.sessions.agent import HomeAgent
from tests.unit.sessions.input.submitting import AGAIN, DONE, LONG, SubmissionCase
from tservice.mux.interface import PaneSpec
from tservice.mux.testing.multiplexer import FakeProgram
from tservice.sessions.input.doubts import REMEMBERED
from tservice.sessions.input.prompting import NOT_SURE


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
        self.assertIn(NOT_SURE, self.refused(again))
        self.assertEqual((["hello"], 1), (self.hosted.pastes, self.enters))
        self.agent.received(b"\r")
        self.assertEqual(AGAIN, self.successResultOf(self.send("hello\r")))

    def test_it_is_a_draft_to_the_next_one(self) -> None:
        self.doubted()
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["next"], "hello"), (self.agent.prompts, self.agent.text))

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

    def test_a_process_that_is_gone_settles_it(self) -> None:
        self.doubted()
        self.hosted.exit(0)
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
        take = self.agent.received

        def received(data: bytes) -> None:
            if b"next" in data:
                # It had read the Enter all along, and writes so only now.
                self.agent.prompts.append("hello")
            take(data)

        self.agent.received = received  # type: ignore[method-assign]
        answer = self.send("next\r", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello", "next"], ""), (self.agent.prompts, self.agent.text))

    def test_a_text_that_comes_back_was_not_submitted(self) -> None:
        """opencode, stopped on its way from its first screen, showed an empty composer for 2 s."""
        self.gate.tells = None
        self.home.leave_home()
        self.home.deaf = 1
        received = self.home.received

        def enter(data: bytes) -> None:
            received(data)
            if data == b"\r" and not self.home.prompts:
                self.home.text, self.kept = "", self.home.text
                self.home.draw()

        self.home.received = enter  # type: ignore[method-assign]
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
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
