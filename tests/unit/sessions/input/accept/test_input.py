"""Typing: prompts and raw bytes, sequence numbers, what is refused."""

from __future__ import annotations

from tests.callers import GRANTED
from tests.unit.sessions.harness import start_coroutine
from tests.unit.sessions.input.harness import AGAIN, DONE, InputCase
from tservice.clis.launcher import CliRegistry
from tservice.clis.registry_merge import merge_registry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode
from tservice.sessions.input.accept.serial_queue import WAITING
from tservice.sessions.input.recover.unpersisted_sequence import CLIENTS
from tservice.sessions.input.type.prompt_runner import SETTLING
from tservice.sessions.input.type.submitter import LEAVING, PATIENCE
from tservice.sessions.input.type.typist import PASTE_GAP
from tservice.sessions.record.requests import INPUT_LENGTH


class PromptInputTests(InputCase):
    """Text and its Enter as one prompt."""

    def test_prompt_is_pasted_and_entered_separately(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        pane = self.pane(self.agent_session)
        self.assertEqual(["hello"], pane.pastes)
        self.assertEqual([], pane.keys)
        self.spend(PASTE_GAP - 0.01)
        self.assertEqual([], pane.keys)
        self.spend(0.02)
        self.assertEqual(["Enter"], pane.keys)
        self.assertNoResult(answer)
        self.spend(0.2)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(["hello"], self.agent.prompts)
        self.assertEqual(["Enter"], pane.keys)

    def test_several_lines_are_sent_as_one_prompt(self) -> None:
        answer = self.type(self.agent_session, "one\ntwo\n\tthree\r")
        self.spend(1)
        self.successResultOf(answer)
        self.assertEqual(["one\ntwo\n\tthree"], self.agent.prompts)

    def test_enter_is_not_repeated_into_a_dialog(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        self.agent.drawn = False
        self.spend(2 * sum(LEAVING) + sum(PATIENCE) + 5)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(answer))
        self.assertEqual(["Enter"], self.pane(self.agent_session).keys)

    def test_prompt_that_ends_its_process_was_delivered(self) -> None:
        """C{/exit}: the text still stands on the screen of the pane that is left."""
        self.agent.deaf = 1
        answer = self.type(self.agent_session, "/exit\r", client_id="c", seq=1)
        self.spend(PASTE_GAP + SETTLING[0] + 0.01)
        self.pane(self.agent_session).exit_program(0)
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        again = self.type(self.agent_session, "/exit\r", client_id="c", seq=1)
        self.assertEqual(ErrorCode.CONFLICT, self.code(again))

    def test_shell_gets_one_enter(self) -> None:
        answer = self.type(self.shell_session, "echo hi\r")
        self.spend(0.2)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(["Enter"], self.pane(self.shell_session).keys)

    def test_escape_sequence_cannot_leave_the_paste(self) -> None:
        answer = self.type(self.agent_session, "a\x1b[201~rm\x03\r", use_mux=True)
        self.spend(1)
        self.successResultOf(answer)
        self.assertEqual(["a[201~rm"], self.agent.prompts)

    def test_submission_is_recorded(self) -> None:
        self.assertIsNone(self.sessions.get(self.agent_session.id).last_submit_at)
        self.type(self.agent_session, "hello\r")
        self.spend(1)
        self.assertIsNotNone(self.sessions.get(self.agent_session.id).last_submit_at)


class RawInputTests(InputCase):
    """Bytes as they are."""

    def test_other_input_is_typed_raw(self) -> None:
        for text in ("a", "\r", "ls\r\r", "\x1b[A", "a\x03\r", "é"):
            self.pane(self.shell_session).typed.clear()
            self.assertEqual(DONE, self.successResultOf(self.type(self.shell_session, text)))
            self.assertEqual(text.encode(), bytes(self.pane(self.shell_session).typed))

    def test_raw_input_can_be_requested(self) -> None:
        self.successResultOf(self.type(self.shell_session, "ls\r", use_mux=False))
        self.assertEqual([], self.pane(self.shell_session).pastes)
        self.assertEqual(b"ls\r", bytes(self.pane(self.shell_session).typed))

    def test_terminal_reports_count_as_no_activity(self) -> None:
        session, self.agent.stands_still = self.agent_session, True
        self.spend(60)
        self.type(session, "\x1b[I")
        self.assertEqual(b"\x1b[I", bytes(self.pane(session).typed))
        self.assertLess(self.sessions.get(session.id).last_activity_at, get_unix_ms(self.clock) - 9)
        self.type(session, "\x1b[A")
        self.assertEqual(get_unix_ms(self.clock), self.sessions.get(session.id).last_activity_at)

    def test_raw_keys_wait_for_the_prompt_before_them(self) -> None:
        prompt = self.type(self.agent_session, "hello\r")
        key = start_coroutine(self.sessions.send_key(self.agent_session.id, "Escape"))
        self.assertNoResult(key)
        self.spend(1)
        self.successResultOf(prompt)
        self.successResultOf(key)
        self.assertEqual(["Enter", "Escape"], self.pane(self.agent_session).keys)

    def test_shift_enter_is_enter_in_a_shell(self) -> None:
        for session, key in ((self.agent_session, "S-Enter"), (self.shell_session, "Enter")):
            self.run_now(self.sessions.send_key(session.id, "S-Enter"))
            self.assertEqual([key], self.pane(session).keys)
        self.assertIsNone(self.sessions.get(self.agent_session.id).last_submit_at)
        self.assertIsNotNone(self.sessions.get(self.shell_session.id).last_submit_at)

    def test_shift_enter_is_the_configured_key_of_the_agent(self) -> None:
        stock = load_stock_entries()
        can = stock["primary"].capabilities
        submission = can.submission.model_copy(update={"newline": "C-j"})
        can = can.model_copy(update={"submission": submission})
        mine = stock["primary"].model_copy(update={"capabilities": can})
        registry = self.machine.clis
        assert isinstance(registry, CliRegistry)
        registry.replace_entries(merge_registry({**stock, "primary": mine}, {}))
        self.run_now(self.sessions.send_key(self.agent_session.id, "S-Enter"))
        self.assertEqual(["C-j"], self.pane(self.agent_session).keys)

    def test_unknown_key_names_are_refused(self) -> None:
        work = self.sessions.send_key(self.shell_session.id, "F99")
        self.assertIn("key", self.assert_refused(ErrorCode.INVALID_INPUT, work))


class InputRuleTests(InputCase):
    """What is refused, and what is typed once only."""

    def test_long_input_and_invalid_sequence_numbers_are_refused(self) -> None:
        session = self.shell_session
        self.assertEqual(
            ErrorCode.PAYLOAD_TOO_LARGE, self.code(self.type(session, "x" * (INPUT_LENGTH + 1)))
        )
        self.assertEqual(ErrorCode.INVALID_INPUT, self.code(self.type(session, "x", seq=1)))
        for fields in ({"client_id": ""}, {"client_id": "c" * 129}, {"client_id": "c", "seq": -1}):
            answer = self.type(session, "x", **{"seq": 1, **fields})
            self.assertEqual(ErrorCode.INVALID_INPUT, self.code(answer))
        self.assertEqual(b"", bytes(self.pane(session).typed))
        self.successResultOf(self.type(session, "x" * INPUT_LENGTH))
        self.assertEqual(INPUT_LENGTH, len(self.pane(session).typed))

    def test_input_without_a_process_is_refused(self) -> None:
        created = self.create()
        self.assertEqual(ErrorCode.CONFLICT, self.code(self.type(created, "x")))
        self.pane(self.shell_session).exit_program(0)
        answer = self.type(self.shell_session, "x", client_id="c", seq=1)
        self.assertEqual(ErrorCode.CONFLICT, self.code(answer))
        self.run_now(self.sessions.start(self.shell_session.id, GRANTED))
        again = self.type(self.shell_session, "x", client_id="c", seq=1)
        self.assertEqual(DONE, self.successResultOf(again))

    def test_only_higher_sequence_numbers_are_typed(self) -> None:
        session = self.shell_session
        for seq, want in [(0, DONE), (0, AGAIN), (5, DONE), (4, AGAIN), (6, DONE)]:
            self.assertEqual(
                want, self.successResultOf(self.type(session, "x", client_id="c", seq=seq))
            )
        self.assertEqual(DONE, self.successResultOf(self.type(session, "x", client_id="d", seq=0)))
        self.assertEqual(b"xxxx", bytes(self.pane(session).typed))

    def test_input_numbers_survive_a_restart(self) -> None:
        self.successResultOf(self.type(self.shell_session, "x", client_id="c", seq=3))
        self.machine.restart()
        answer = self.type(self.shell_session, "x", client_id="c", seq=3)
        self.assertEqual(AGAIN, self.successResultOf(answer))

    def test_input_numbers_of_256_clients_are_remembered(self) -> None:
        session = self.shell_session
        for number in range(CLIENTS + 1):
            self.successResultOf(self.type(session, "x", client_id=f"c{number}", seq=1))
        rows = self.machine.database.query_rows("SELECT client_id FROM input_marks")
        self.assertEqual(CLIENTS, len(rows))
        for client, want in [("c1", AGAIN), (f"c{CLIENTS}", AGAIN), ("c0", DONE)]:
            answer = self.type(session, "x", client_id=client, seq=1)
            self.assertEqual(want, self.successResultOf(answer))

    def test_waiting_inputs_are_bounded(self) -> None:
        self.pane(self.shell_session).stop_answering()
        answers = [self.type(self.shell_session, "x") for _ in range(WAITING + 1)]
        self.assertEqual(ErrorCode.RATE_LIMITED, self.code(self.type(self.shell_session, "x")))
        self.pane(self.shell_session).resume_answering()
        for answer in answers:
            self.assertEqual(DONE, self.successResultOf(answer))

    def test_disconnected_client_cancels_its_waiting_input(self) -> None:
        self.pane(self.shell_session).stop_answering()
        first = self.type(self.shell_session, "a")
        second = self.type(self.shell_session, "b", client_id="c", seq=1)
        second.addErrback(lambda _: None)
        second.cancel()
        self.pane(self.shell_session).resume_answering()
        self.successResultOf(first)
        self.assertEqual(b"a", bytes(self.pane(self.shell_session).typed))
        again = self.type(self.shell_session, "b", client_id="c", seq=1)
        self.assertEqual(DONE, self.successResultOf(again))
