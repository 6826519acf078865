"""Lost answers, refusals, and what a killed service leaves to the next."""

from __future__ import annotations

from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.unit.sessions.input.harness import AGAIN, DONE, InputCase
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.input.accept.acceptance import UNSURE
from tservice.sessions.input.type.typist import PASTE_GAP
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.record.model import Session


class FailureTests(InputCase):
    """Lost answers and refusals."""

    def fault(self, operation: str, error: MuxError, **how: object) -> None:
        self.pane(self.shell_session).inject_fault(operation, error, **how)  # type: ignore[arg-type]

    def send(self, text: str = "x", seq: int = 1) -> Deferred[InputDelivery]:
        return self.type(self.shell_session, text, client_id="c", seq=seq)

    def test_lost_answer_is_looked_up_by_the_mark(self) -> None:
        for seq, effect in enumerate((True, False)):
            self.pane(self.shell_session).typed.clear()
            self.fault("write", MuxTimeout("slow"), effect=effect)
            self.assertEqual(DONE, self.successResultOf(self.send(seq=seq)))
            self.assertEqual(b"x", bytes(self.pane(self.shell_session).typed))

    def test_long_write_resumes_after_a_lost_answer(self) -> None:
        self.fault("write", MuxTimeout("slow"), skip=2, effect=True)
        text = "".join(f"{number:04}" for number in range(1500))
        self.assertEqual(DONE, self.successResultOf(self.send(text)))
        self.assertEqual(text.encode(), bytes(self.pane(self.shell_session).typed))

    def test_lost_answer_to_a_paste_or_enter_is_looked_up(self) -> None:
        for operation in ("paste", "send_key"):
            for effect in (True, False):
                self.agent.prompts.clear()
                self.pane(self.agent_session).inject_fault(
                    operation, MuxTimeout("slow"), effect=effect
                )
                answer = self.type(self.agent_session, "hello\r")
                self.spend(1)
                self.assertEqual(DONE, self.successResultOf(answer))
                self.assertEqual(["hello"], self.agent.prompts)

    def test_refused_write_frees_its_number(self) -> None:
        for _ in range(3):
            self.fault("write", MuxError("no"))
        answer = self.send()
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(answer))
        self.assertEqual(b"", bytes(self.pane(self.shell_session).typed))
        self.assertEqual(DONE, self.successResultOf(self.send()))

    def test_freed_number_keeps_the_numbers_before(self) -> None:
        self.successResultOf(self.send(seq=1))
        for _ in range(3):
            self.fault("write", MuxError("no"))
        refused = self.send(seq=2)
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(refused))
        self.assertEqual(AGAIN, self.successResultOf(self.send(seq=1)))
        self.assertEqual(DONE, self.successResultOf(self.send(seq=2)))

    def test_input_waiting_after_a_failure_fails_with_it(self) -> None:
        for _ in range(3):
            self.fault("write", MuxError("no"))
        first, second = self.send("a", 1), self.send("b", 2)
        other = self.type(self.shell_session, "o", client_id="d", seq=1)
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(first))
        self.assertEqual(ErrorCode.CONFLICT, self.code(second))
        self.assertEqual(DONE, self.successResultOf(other))
        for text, seq in (("a", 1), ("b", 2)):
            self.assertEqual(DONE, self.successResultOf(self.send(text, seq)))
        self.assertEqual(b"oab", bytes(self.pane(self.shell_session).typed))

    def test_lost_pane_frees_the_number(self) -> None:
        self.fault("write", PaneGone("gone"))
        self.assertEqual(ErrorCode.CONFLICT, self.code(self.send()))
        self.assertEqual(DONE, self.successResultOf(self.send()))

    def test_unknown_outcome_is_reported_and_typed_once(self) -> None:
        self.pane(self.shell_session).stop_answering()
        answer = self.send()
        self.spend(30)
        why: ServiceError = self.failureResultOf(answer, ServiceError).value
        self.assertEqual((ErrorCode.OPERATION_FAILED, UNSURE), (why.code, why.message))
        again = self.send()
        self.pane(self.shell_session).resume_answering()
        self.spend(2)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual(b"x", bytes(self.pane(self.shell_session).typed))

    def test_unnumbered_input_is_not_typed_after_its_caller_gave_up(self) -> None:
        pane = self.pane(self.shell_session)
        pane.inject_fault("write", MuxTimeout("slow"))
        pane.inject_fault("last_mark", MuxTimeout("slow"))
        pane.inject_fault("last_mark", MuxTimeout("slow"))
        answer = self.type(self.shell_session, "x")
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(answer))
        self.assertEqual(b"", bytes(pane.typed))
        self.assertIsNone(self.machine.database.query_first_row("SELECT * FROM input_journal"))


class InputCrashTests(InputCase):
    """A killed service; the next one finishes what was begun."""

    def recovered(self) -> None:
        self.machine.restart()
        self.spend(3)
        self.assertEqual([], self.machine.database.query_rows("SELECT * FROM input_journal"))

    def send(self, session: Session, text: str) -> Deferred[InputDelivery]:
        return self.type(session, text, client_id="c", seq=1)

    def test_crash_before_typing_is_completed(self) -> None:
        self.patch(type(self.sessions.get_pane(self.agent_session.id)), "paste", _never)
        self.send(self.agent_session, "hello\r")
        self.machine.crash()
        self.doCleanups()
        self.recovered()
        self.assertEqual(["hello"], self.agent.prompts)
        self.assertEqual(AGAIN, self.successResultOf(self.send(self.agent_session, "hello\r")))

    def test_crash_between_paste_and_enter_is_completed(self) -> None:
        for session in (self.agent_session, self.shell_session):
            self.send(session, "echo hi\r")
            self.clock.advance(PASTE_GAP / 2)
            self.recovered()
            self.assertEqual(["echo hi"], self.pane(session).pastes)
            self.assertEqual(["Enter"], self.pane(session).keys)
        self.assertEqual(["echo hi"], self.agent.prompts)

    def test_paste_submitted_by_hand_after_a_crash_is_not_submitted_again(self) -> None:
        self.send(self.agent_session, "hello\r")
        self.machine.crash()
        self.agent.input_received(b"\r")
        self.recovered()
        self.assertEqual(["hello"], self.agent.prompts)
        self.assertEqual([], self.pane(self.agent_session).keys)

    def test_crash_during_a_long_write_is_completed(self) -> None:
        text = "".join(f"{number:04}" for number in range(1000))
        pane = self.pane(self.shell_session)
        pane.inject_fault("write", MuxTimeout("x"), skip=2)
        pane.inject_fault("last_mark", MuxTimeout("x"))
        self.send(self.shell_session, text)
        self.assertEqual(2000, len(pane.typed))
        self.recovered()
        self.assertEqual(text.encode(), bytes(pane.typed))

    def keys(self, *texts: str) -> list[Deferred[InputDelivery]]:
        """Keys of one client, numbered from 1 on."""
        return [
            self.type(self.shell_session, text, client_id="k", seq=seq)
            for seq, text in enumerate(texts, 1)
        ]

    def test_typed_key_is_known_by_its_mark_after_a_crash(self) -> None:
        """Nothing of it was on the disk."""
        for effect, answer in ((True, AGAIN), (False, DONE)):
            self.keys("a")
            pane = self.pane(self.shell_session)
            pane.typed.clear()
            pane.inject_fault("write", MuxTimeout("x"), effect=effect)
            pane.inject_fault("last_mark", MuxTimeout("x"))
            self.keys("a", "b")
            self.recovered()
            self.assertEqual(answer, self.successResultOf(self.keys("a", "b")[1]))
            self.assertEqual(b"b", bytes(pane.typed))
            self.shell_session = self.shell()

    def test_unknown_mark_holds_back_input_until_it_is_read(self) -> None:
        """Before that nothing is typed: what was sent again could stand there already."""
        self.keys("a", "b")
        pane = self.pane(self.shell_session)
        self.machine.crash()
        for _ in range(4):
            pane.inject_fault("last_mark", MuxTimeout("x"))
        self.machine.boot()
        self.run_now(self.sessions.load_and_adopt_sessions())
        again = self.keys("a", "b", "c")
        self.assertNoResult(again[2])
        self.spend(5)
        self.assertEqual([AGAIN, AGAIN, DONE], [self.successResultOf(each) for each in again])
        self.assertEqual(b"abc", bytes(pane.typed))

    def test_mark_of_a_process_that_ended_is_still_read(self) -> None:
        self.keys("a", "b")
        self.machine.crash()
        self.pane(self.shell_session).exit_program(0)
        self.recovered()
        self.run_now(self.sessions.start(self.shell_session.id, GRANTED))
        self.assertEqual(AGAIN, self.successResultOf(self.keys("a", "b")[1]))

    def test_lost_process_drops_its_journal(self) -> None:
        self.send(self.agent_session, "hello\r")
        self.machine.crash()
        self.host.lose_server(self.agent_session.id)
        self.recovered()
        self.run_now(self.sessions.start(self.agent_session.id, GRANTED))
        self.spend(1)
        self.assertEqual([], self.pane(self.agent_session).pastes)


async def _never(*args: object) -> None:
    await Deferred()
