"""A prompt and a dialog of the agent: its Enter must never be the answer."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from zope.interface import implementer

from tests.fakes.multiplexer.multiplexer import FakeProgram
from tests.unit.sessions.harness import SessionCase
from tests.unit.sessions.scripted_agent import ComposerAgent
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import MuxBusy, MuxTimeout, PaneCapture, PaneSpec
from tservice.sessions.input.type.prompt_runner import ASKING
from tservice.sessions.input.type.prompt_runner import DIALOG_LOOKS as LOOKS
from tservice.sessions.input.type.typist import PASTE_GAP
from tservice.sessions.interfaces import IInputGate, InputDelivery
from tservice.sessions.record.model import Session
from tservice.sessions.service import PassThroughGate

DONE = InputDelivery(delivered=True)
ASKED = "permission dialog: Do you want to proceed?"


@implementer(IInputGate)
class SeeingGate(PassThroughGate):
    """Knows the dialog of L{ComposerAgent}."""

    def describe_dialog(self, session: Session, capture: PaneCapture, typed: str) -> str | None:
        screen = b"\n".join(capture.lines[capture.history :])
        return ASKED if b"1. Yes" in screen else None


class InputDialogTests(SessionCase):
    """A running agent that asks for something."""

    def program(self, spec: PaneSpec) -> FakeProgram:
        self.agent = ComposerAgent()
        return self.agent

    def setUp(self) -> None:
        super().setUp()
        self.machine.gate = SeeingGate()
        self.machine.restart()
        self.session = self.create(mode="primary", start=True)
        self.hosted = self.pane(self.session)

    def test_dialog_refuses_the_prompt_and_frees_its_number(self) -> None:
        self.agent.show(drawn=False)
        answer = self.type(self.session, "please do not\r", client_id="c", seq=1)
        self.spend(sum(ASKING))
        error: ServiceError = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn("nothing was typed", error.message)
        self.assertIn(ASKED, error.message)
        self.assertEqual(([], []), (self.hosted.pastes, self.hosted.keys))
        self.agent.show(drawn=True)
        again = self.type(self.session, "please do not\r", client_id="c", seq=1)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(again))
        self.assertEqual(["please do not"], self.agent.prompts)

    def test_redraw_of_the_screen_is_no_dialog(self) -> None:
        """A prompt of before that quotes one stands lowest until the composer is drawn."""
        self.agent.show(drawn=False)
        answer = self.type(self.session, "hello\r")
        self.spend(sum(ASKING) / 2)
        self.agent.show(drawn=True)
        self.spend(2)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(["hello"], self.agent.prompts)

    def test_dialog_that_opens_before_enter_gets_none(self) -> None:
        self.assertIn("not submitted", self.not_submitted())
        self.assertEqual([], self.hosted.keys)

    def again(self) -> Deferred[InputDelivery]:
        return self.type(self.session, "hello\r", client_id="c", seq=1)

    def test_repeated_unsubmitted_prompt_is_refused_again(self) -> None:
        """Its number stays taken, for the text stands there; that is no duplicate of a prompt."""
        self.not_submitted()
        error: ServiceError = self.failureResultOf(self.again(), ServiceError).value
        self.assertIn("not submitted", error.message)
        self.assertEqual(["hello"], self.hosted.pastes)
        # Somebody submits what stands there.
        self.agent.show(drawn=True)
        self.agent.input_received(b"\r")
        self.assertTrue(self.successResultOf(self.again()).duplicate)

    def test_unsubmitted_prompt_is_submitted_on_repeat_once_the_dialog_is_gone(self) -> None:
        """Its sender asks for it again; the text stands there as it was typed."""
        self.not_submitted()
        self.agent.show(drawn=True)
        again = self.again()
        self.spend(3)
        self.assertTrue(self.successResultOf(again).duplicate)
        self.assertEqual((["hello"], ["hello"]), (self.hosted.pastes, self.agent.prompts))

    def test_unsubmitted_prompt_changed_by_a_person_is_not_submitted(self) -> None:
        self.not_submitted("hello there")
        self.agent.text += ", and rm -r ."
        self.agent.show(drawn=True)
        again = self.type(self.session, "hello there\r", client_id="c", seq=1)
        error: ServiceError = self.failureResultOf(again, ServiceError).value
        self.assertIn("not submitted", error.message)
        self.assertEqual([], self.hosted.keys)

    def test_unsubmitted_prompt_is_no_draft_to_the_next_prompt(self) -> None:
        self.not_submitted()
        self.agent.show(drawn=True)
        answer = self.type(self.session, "hello\r", client_id="c", seq=2)
        self.spend(5)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], ""), (self.agent.prompts, self.agent.text))

    def not_submitted(self, text: str = "hello") -> str:
        """What the sender of such a prompt is told."""
        answer = self.type(self.session, f"{text}\r", client_id="c", seq=1)
        self.clock.advance(PASTE_GAP / 2)
        self.agent.show(drawn=False)
        self.spend(PASTE_GAP + sum(LOOKS) + 1)
        error: ServiceError = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        return error.message

    def test_dialog_that_closes_soon_is_waited_for(self) -> None:
        answer = self.type(self.session, "hello\r")
        self.agent.show(drawn=False)
        self.spend(PASTE_GAP + 0.05)
        self.agent.show(drawn=True)
        self.spend(2)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], ["Enter"]), (self.agent.prompts, self.hosted.keys))

    def test_text_swallowed_by_a_dialog_was_not_delivered(self) -> None:
        answer = self.type(self.session, "hello\r")
        self.agent.show(drawn=False)
        self.spend(PASTE_GAP + 0.05)
        self.agent.clear()
        self.agent.show(drawn=True)
        self.spend(PASTE_GAP + sum(LOOKS) + 1)
        self.failureResultOf(answer, ServiceError)
        self.assertEqual(([], []), (self.agent.prompts, self.hosted.keys))

    def test_prompt_begun_before_a_kill_is_not_submitted_into_a_dialog(self) -> None:
        self.type(self.session, "hello\r", client_id="c", seq=1)
        self.agent.show(drawn=False)
        self.machine.restart()
        self.spend(PASTE_GAP + sum(LOOKS) + 1)
        self.assertEqual((["hello"], []), (self.hosted.pastes, self.hosted.keys))

    def test_unreadable_screen_delays_no_prompt(self) -> None:
        for error in (MuxTimeout("slow"), MuxBusy("full"), MuxTimeout("slow")):
            self.hosted.inject_fault("capture", error)
        answer = self.type(self.session, "hello\r")
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], ["Enter"]), (self.agent.prompts, self.hosted.keys))

    def test_raw_bytes_and_keys_answer_a_dialog(self) -> None:
        self.agent.show(drawn=False)
        for text in ("1", "\r", "\x1b"):
            self.assertEqual(DONE, self.successResultOf(self.type(self.session, text)))
        answer = self.type(self.session, "1\r", use_mux=False)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.run_now(self.sessions.send_key(self.session.id, "Enter"))
        self.assertEqual(["Enter"], self.hosted.keys)
