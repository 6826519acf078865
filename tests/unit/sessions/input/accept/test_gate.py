"""What keeps prompts back while they would land in the wrong place."""

from __future__ import annotations

from twisted.python.failure import Failure

from tests.unit.sessions.harness import start_coroutine
from tests.unit.sessions.input.harness import AGAIN, DONE, HeldGate, InputCase
from tservice.core.kernel.errors import ErrorCode, make_failure_error


class InputGateTests(InputCase):
    """Prompts are kept back while they would land in the wrong place."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = HeldGate()
        self.machine.gate = self.gate
        self.machine.restart()

    def test_prompt_is_held_then_typed(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        self.spend(5)
        self.assertEqual([], self.pane(self.agent_session).pastes)
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(answer))

    def test_refused_prompt_frees_its_number(self) -> None:
        first = self.type(self.agent_session, "hello\r", client_id="c", seq=1)
        self.gate.held[0].errback(Failure(make_failure_error("the dialog stayed")))
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(first))
        again = self.type(self.agent_session, "hello\r", client_id="c", seq=1)
        self.gate.held[1].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(again))

    def test_keys_and_raw_bytes_pass_a_held_prompt(self) -> None:
        """They answer the dialog that it waits for; what passed is typed first."""
        held = self.type(self.agent_session, "hello\r", client_id="a", seq=1)
        pane = self.pane(self.agent_session)
        pressed = start_coroutine(self.sessions.send_key(self.agent_session.id, "Down"))
        raw = self.type(self.agent_session, "\x1b", client_id="b", seq=1)
        self.spend(1)
        self.successResultOf(pressed)
        self.assertEqual(DONE, self.successResultOf(raw))
        self.assertEqual((["Down"], []), (pane.keys, pane.pastes))
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(held))
        self.assertEqual((["hello"], ["Down", "Enter"]), (pane.pastes, pane.keys))

    def test_input_of_one_client_never_passes_its_own_prompt(self) -> None:
        held = self.type(self.agent_session, "hello\r", client_id="a", seq=1)
        raw = self.type(self.agent_session, "\x1b", client_id="a", seq=2)
        self.spend(1)
        self.assertNoResult(raw)
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual([DONE, DONE], [self.successResultOf(each) for each in (held, raw)])
        again = self.type(self.agent_session, "\x1b", client_id="a", seq=2)
        self.assertEqual(AGAIN, self.successResultOf(again))

    def test_process_that_ends_refuses_the_held_prompt(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        self.pane(self.agent_session).exit_program(0)
        self.gate.held[0].callback(None)
        self.assertEqual(ErrorCode.CONFLICT, self.code(answer))
