"""Typing: prompts and raw bytes, sequence numbers, failures, what a crash leaves."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from zope.interface import implementer

from tests.unit.sessions.agent import ComposerAgent
from tests.unit.sessions.rig import SessionCase, begin
from tservice.core.clock import now_ms
from tservice.core.errors import ErrorCode, ServiceError, failed
from tservice.mux.interface import Capture, MuxError, MuxTimeout, PaneGone, PaneSpec
from tservice.mux.testing.multiplexer import EchoShell, FakeProgram
from tservice.sessions.input.journal import CLIENTS
from tservice.sessions.input.prompting import LEAVING, PATIENCE, SETTLING
from tservice.sessions.input.queue import UNSURE
from tservice.sessions.input.serial import WAITING
from tservice.sessions.input.typist import PASTE_GAP
from tservice.sessions.interfaces import Delivery, IInputGate
from tservice.sessions.record.model import Session
from tservice.sessions.record.requests import INPUT_LENGTH

DONE, AGAIN = Delivery(delivered=True), Delivery(delivered=False, duplicate=True)


class InputCase(SessionCase):
    """A running agent and a running shell."""

    def setUp(self) -> None:
        self.agents: list[ComposerAgent] = []
        super().setUp()
        self.host.program = self.make_program
        self.agent_session = self.create(mode="primary", start=True)
        self.shell_session = self.shell()
        self.agent = self.agents[0]

    def make_program(self, spec: PaneSpec) -> FakeProgram:
        if "claude" not in spec.argv[0]:
            return EchoShell()
        self.agents.append(ComposerAgent())
        return self.agents[-1]

    def code(self, answer: Deferred[Delivery]) -> ErrorCode:
        error: ServiceError = self.failureResultOf(answer, ServiceError).value
        return error.code


class PromptTests(InputCase):
    """Text and its Enter as one prompt."""

    def test_pasted_then_entered_apart(self) -> None:
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

    def test_several_lines_are_one_prompt(self) -> None:
        answer = self.type(self.agent_session, "one\ntwo\n\tthree\r")
        self.spend(1)
        self.successResultOf(answer)
        self.assertEqual(["one\ntwo\n\tthree"], self.agent.prompts)

    def test_no_second_enter_into_a_dialog(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        self.agent.drawn = False
        self.spend(2 * sum(LEAVING) + sum(PATIENCE) + 5)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(answer))
        self.assertEqual(["Enter"], self.pane(self.agent_session).keys)

    def test_a_prompt_that_ends_its_process_was_delivered(self) -> None:
        """C{/exit}: the text still stands on the screen of the pane that is left."""
        self.agent.deaf = 1
        answer = self.type(self.agent_session, "/exit\r", client_id="c", seq=1)
        self.spend(PASTE_GAP + SETTLING[0] + 0.01)
        self.pane(self.agent_session).exit(0)
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(answer))
        again = self.type(self.agent_session, "/exit\r", client_id="c", seq=1)
        self.assertEqual(ErrorCode.CONFLICT, self.code(again))

    def test_a_shell_gets_one_enter(self) -> None:
        answer = self.type(self.shell_session, "echo hi\r")
        self.spend(0.2)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual(["Enter"], self.pane(self.shell_session).keys)

    def test_escape_cannot_leave_the_paste(self) -> None:
        answer = self.type(self.agent_session, "a\x1b[201~rm\x03\r", use_mux=True)
        self.spend(1)
        self.successResultOf(answer)
        self.assertEqual(["a[201~rm"], self.agent.prompts)

    def test_submitting_is_noted(self) -> None:
        self.assertIsNone(self.sessions.get(self.agent_session.id).last_submit_at)
        self.type(self.agent_session, "hello\r")
        self.spend(1)
        self.assertIsNotNone(self.sessions.get(self.agent_session.id).last_submit_at)


class RawTests(InputCase):
    """Bytes as they are."""

    def test_what_is_no_prompt_goes_raw(self) -> None:
        for text in ("a", "\r", "ls\r\r", "\x1b[A", "a\x03\r", "é"):
            self.pane(self.shell_session).typed.clear()
            self.assertEqual(DONE, self.successResultOf(self.type(self.shell_session, text)))
            self.assertEqual(text.encode(), bytes(self.pane(self.shell_session).typed))

    def test_raw_can_be_asked_for(self) -> None:
        self.successResultOf(self.type(self.shell_session, "ls\r", use_mux=False))
        self.assertEqual([], self.pane(self.shell_session).pastes)
        self.assertEqual(b"ls\r", bytes(self.pane(self.shell_session).typed))

    def test_answers_of_the_terminal_are_nobodys_activity(self) -> None:
        session, self.agent.stands_still = self.agent_session, True
        self.spend(60)
        self.type(session, "\x1b[I")
        self.assertEqual(b"\x1b[I", bytes(self.pane(session).typed))
        self.assertLess(self.sessions.get(session.id).last_activity_at, now_ms(self.clock) - 9)
        self.type(session, "\x1b[A")
        self.assertEqual(now_ms(self.clock), self.sessions.get(session.id).last_activity_at)

    def test_keys_wait_their_turn(self) -> None:
        prompt = self.type(self.agent_session, "hello\r")
        key = begin(self.sessions.send_key(self.agent_session.id, "Escape"))
        self.assertNoResult(key)
        self.spend(1)
        self.successResultOf(prompt)
        self.successResultOf(key)
        self.assertEqual(["Enter", "Escape"], self.pane(self.agent_session).keys)

    def test_shift_enter_is_enter_to_a_shell(self) -> None:
        for session, key in ((self.agent_session, "S-Enter"), (self.shell_session, "Enter")):
            self.run_now(self.sessions.send_key(session.id, "S-Enter"))
            self.assertEqual([key], self.pane(session).keys)
        self.assertIsNone(self.sessions.get(self.agent_session.id).last_submit_at)
        self.assertIsNotNone(self.sessions.get(self.shell_session.id).last_submit_at)

    def test_unknown_keys_are_refused(self) -> None:
        work = self.sessions.send_key(self.shell_session.id, "F99")
        self.assertIn("key", self.assert_refused(ErrorCode.INVALID_INPUT, work))


class RuleTests(InputCase):
    """What is refused, and what is typed once only."""

    def test_limits(self) -> None:
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

    def test_without_a_process(self) -> None:
        created = self.create()
        self.assertEqual(ErrorCode.CONFLICT, self.code(self.type(created, "x")))
        self.pane(self.shell_session).exit(0)
        answer = self.type(self.shell_session, "x", client_id="c", seq=1)
        self.assertEqual(ErrorCode.CONFLICT, self.code(answer))
        self.run_now(self.sessions.start(self.shell_session.id, granted=True))
        again = self.type(self.shell_session, "x", client_id="c", seq=1)
        self.assertEqual(DONE, self.successResultOf(again))

    def test_only_above_the_last_number(self) -> None:
        session = self.shell_session
        for seq, want in [(0, DONE), (0, AGAIN), (5, DONE), (4, AGAIN), (6, DONE)]:
            self.assertEqual(
                want, self.successResultOf(self.type(session, "x", client_id="c", seq=seq))
            )
        self.assertEqual(DONE, self.successResultOf(self.type(session, "x", client_id="d", seq=0)))
        self.assertEqual(b"xxxx", bytes(self.pane(session).typed))

    def test_numbers_survive_a_restart(self) -> None:
        self.successResultOf(self.type(self.shell_session, "x", client_id="c", seq=3))
        self.machine.restart()
        answer = self.type(self.shell_session, "x", client_id="c", seq=3)
        self.assertEqual(AGAIN, self.successResultOf(answer))

    def test_256_clients_are_remembered(self) -> None:
        session = self.shell_session
        for number in range(CLIENTS + 1):
            self.successResultOf(self.type(session, "x", client_id=f"c{number}", seq=1))
        rows = self.machine.database.query("SELECT client_id FROM input_marks")
        self.assertEqual(CLIENTS, len(rows))
        for client, want in [("c1", AGAIN), (f"c{CLIENTS}", AGAIN), ("c0", DONE)]:
            answer = self.type(session, "x", client_id=client, seq=1)
            self.assertEqual(want, self.successResultOf(answer))

    def test_too_many_waiting(self) -> None:
        self.pane(self.shell_session).hold()
        answers = [self.type(self.shell_session, "x") for _ in range(WAITING + 1)]
        self.assertEqual(ErrorCode.RATE_LIMITED, self.code(self.type(self.shell_session, "x")))
        self.pane(self.shell_session).release()
        for answer in answers:
            self.assertEqual(DONE, self.successResultOf(answer))

    def test_who_hangs_up_while_waiting_is_not_typed(self) -> None:
        self.pane(self.shell_session).hold()
        first = self.type(self.shell_session, "a")
        second = self.type(self.shell_session, "b", client_id="c", seq=1)
        second.addErrback(lambda _: None)
        second.cancel()
        self.pane(self.shell_session).release()
        self.successResultOf(first)
        self.assertEqual(b"a", bytes(self.pane(self.shell_session).typed))
        again = self.type(self.shell_session, "b", client_id="c", seq=1)
        self.assertEqual(DONE, self.successResultOf(again))


class FailureTests(InputCase):
    """Lost answers and refusals."""

    def fault(self, operation: str, error: MuxError, **how: object) -> None:
        self.pane(self.shell_session).fail(operation, error, **how)  # type: ignore[arg-type]

    def send(self, text: str = "x", seq: int = 1) -> Deferred[Delivery]:
        return self.type(self.shell_session, text, client_id="c", seq=seq)

    def test_a_lost_answer_is_looked_up(self) -> None:
        for seq, effect in enumerate((True, False)):
            self.pane(self.shell_session).typed.clear()
            self.fault("write", MuxTimeout("slow"), effect=effect)
            self.assertEqual(DONE, self.successResultOf(self.send(seq=seq)))
            self.assertEqual(b"x", bytes(self.pane(self.shell_session).typed))

    def test_a_long_write_goes_on_where_it_was(self) -> None:
        self.fault("write", MuxTimeout("slow"), skip=2, effect=True)
        text = "".join(f"{number:04}" for number in range(1500))
        self.assertEqual(DONE, self.successResultOf(self.send(text)))
        self.assertEqual(text.encode(), bytes(self.pane(self.shell_session).typed))

    def test_a_lost_answer_to_a_paste_or_an_enter(self) -> None:
        for operation in ("paste", "send_key"):
            for effect in (True, False):
                self.agent.prompts.clear()
                self.pane(self.agent_session).fail(operation, MuxTimeout("slow"), effect=effect)
                answer = self.type(self.agent_session, "hello\r")
                self.spend(1)
                self.assertEqual(DONE, self.successResultOf(answer))
                self.assertEqual(["hello"], self.agent.prompts)

    def test_a_refused_write_gives_the_number_back(self) -> None:
        for _ in range(3):
            self.fault("write", MuxError("no"))
        answer = self.send()
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(answer))
        self.assertEqual(b"", bytes(self.pane(self.shell_session).typed))
        self.assertEqual(DONE, self.successResultOf(self.send()))

    def test_giving_back_does_not_forget_the_numbers_before(self) -> None:
        self.successResultOf(self.send(seq=1))
        for _ in range(3):
            self.fault("write", MuxError("no"))
        refused = self.send(seq=2)
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(refused))
        self.assertEqual(AGAIN, self.successResultOf(self.send(seq=1)))
        self.assertEqual(DONE, self.successResultOf(self.send(seq=2)))

    def test_what_waits_behind_a_failure_fails_with_it(self) -> None:
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

    def test_a_pane_that_goes_away_gives_the_number_back(self) -> None:
        self.fault("write", PaneGone("gone"))
        self.assertEqual(ErrorCode.CONFLICT, self.code(self.send()))
        self.assertEqual(DONE, self.successResultOf(self.send()))

    def test_when_nobody_knows_the_caller_is_told_and_it_is_typed_once(self) -> None:
        self.pane(self.shell_session).hold()
        answer = self.send()
        self.spend(30)
        why: ServiceError = self.failureResultOf(answer, ServiceError).value
        self.assertEqual((ErrorCode.OPERATION_FAILED, UNSURE), (why.code, why.message))
        again = self.send()
        self.pane(self.shell_session).release()
        self.spend(2)
        self.assertEqual(AGAIN, self.successResultOf(again))
        self.assertEqual(b"x", bytes(self.pane(self.shell_session).typed))

    def test_without_a_number_it_is_not_typed_after_its_caller_gave_up(self) -> None:
        pane = self.pane(self.shell_session)
        pane.fail("write", MuxTimeout("slow"))
        pane.fail("last_mark", MuxTimeout("slow"))
        pane.fail("last_mark", MuxTimeout("slow"))
        answer = self.type(self.shell_session, "x")
        self.spend(3)
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(answer))
        self.assertEqual(b"", bytes(pane.typed))
        self.assertIsNone(self.machine.database.query_one("SELECT * FROM input_journal"))


class CrashTests(InputCase):
    """A killed service; the next one finishes what was begun."""

    def recovered(self) -> None:
        self.machine.restart()
        self.spend(3)
        self.assertEqual([], self.machine.database.query("SELECT * FROM input_journal"))

    def send(self, session: Session, text: str) -> Deferred[Delivery]:
        return self.type(session, text, client_id="c", seq=1)

    def test_before_anything_was_typed(self) -> None:
        self.patch(type(self.sessions.pane_of(self.agent_session.id)), "paste", _never)
        self.send(self.agent_session, "hello\r")
        self.machine.crash()
        self.doCleanups()
        self.recovered()
        self.assertEqual(["hello"], self.agent.prompts)
        self.assertEqual(AGAIN, self.successResultOf(self.send(self.agent_session, "hello\r")))

    def test_between_paste_and_enter(self) -> None:
        for session in (self.agent_session, self.shell_session):
            self.send(session, "echo hi\r")
            self.clock.advance(PASTE_GAP / 2)
            self.recovered()
            self.assertEqual(["echo hi"], self.pane(session).pastes)
            self.assertEqual(["Enter"], self.pane(session).keys)
        self.assertEqual(["echo hi"], self.agent.prompts)

    def test_after_the_paste_was_submitted_by_hand(self) -> None:
        self.send(self.agent_session, "hello\r")
        self.machine.crash()
        self.agent.received(b"\r")
        self.recovered()
        self.assertEqual(["hello"], self.agent.prompts)
        self.assertEqual([], self.pane(self.agent_session).keys)

    def test_in_the_middle_of_a_long_write(self) -> None:
        text = "".join(f"{number:04}" for number in range(1000))
        pane = self.pane(self.shell_session)
        pane.fail("write", MuxTimeout("x"), skip=2)
        pane.fail("last_mark", MuxTimeout("x"))
        self.send(self.shell_session, text)
        self.assertEqual(2000, len(pane.typed))
        self.recovered()
        self.assertEqual(text.encode(), bytes(pane.typed))

    def keys(self, *texts: str) -> list[Deferred[Delivery]]:
        """Keys of one client, numbered from 1 on."""
        return [
            self.type(self.shell_session, text, client_id="k", seq=seq)
            for seq, text in enumerate(texts, 1)
        ]

    def test_a_key_that_was_typed_is_known_by_the_mark(self) -> None:
        """Nothing of it was on the disk."""
        for effect, answer in ((True, AGAIN), (False, DONE)):
            self.keys("a")
            pane = self.pane(self.shell_session)
            pane.typed.clear()
            pane.fail("write", MuxTimeout("x"), effect=effect)
            pane.fail("last_mark", MuxTimeout("x"))
            self.keys("a", "b")
            self.recovered()
            self.assertEqual(answer, self.successResultOf(self.keys("a", "b")[1]))
            self.assertEqual(b"b", bytes(pane.typed))
            self.shell_session = self.shell()

    def test_the_mark_is_asked_for_until_it_is_known(self) -> None:
        """Before that nothing is typed: what was sent again could stand there already."""
        self.keys("a", "b")
        pane = self.pane(self.shell_session)
        self.machine.crash()
        for _ in range(4):
            pane.fail("last_mark", MuxTimeout("x"))
        self.machine.boot()
        self.run_now(self.sessions.open())
        again = self.keys("a", "b", "c")
        self.assertNoResult(again[2])
        self.spend(5)
        self.assertEqual([AGAIN, AGAIN, DONE], [self.successResultOf(each) for each in again])
        self.assertEqual(b"abc", bytes(pane.typed))

    def test_a_process_that_ended_meanwhile_has_its_mark_still(self) -> None:
        self.keys("a", "b")
        self.machine.crash()
        self.pane(self.shell_session).exit(0)
        self.recovered()
        self.run_now(self.sessions.start(self.shell_session.id, granted=True))
        self.assertEqual(AGAIN, self.successResultOf(self.keys("a", "b")[1]))

    def test_a_process_that_is_gone_leaves_no_journal(self) -> None:
        self.send(self.agent_session, "hello\r")
        self.machine.crash()
        self.host.lose(self.agent_session.id)
        self.recovered()
        self.run_now(self.sessions.start(self.agent_session.id, granted=True))
        self.spend(1)
        self.assertEqual([], self.pane(self.agent_session).pastes)


class GateTests(InputCase):
    """Prompts are kept back while they would land in the wrong place."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = HeldGate()
        self.machine.gate = self.gate
        self.machine.restart()

    def test_held_then_typed(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        self.spend(5)
        self.assertEqual([], self.pane(self.agent_session).pastes)
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(answer))

    def test_a_refusal_gives_the_number_back(self) -> None:
        first = self.type(self.agent_session, "hello\r", client_id="c", seq=1)
        self.gate.held[0].errback(Failure(failed("the dialog stayed")))
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.code(first))
        again = self.type(self.agent_session, "hello\r", client_id="c", seq=1)
        self.gate.held[1].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(again))

    def test_keys_and_raw_bytes_pass_it(self) -> None:
        """They answer the dialog that it waits for; what passed is typed first."""
        held = self.type(self.agent_session, "hello\r", client_id="a", seq=1)
        pane = self.pane(self.agent_session)
        pressed = begin(self.sessions.send_key(self.agent_session.id, "Down"))
        raw = self.type(self.agent_session, "\x1b", client_id="b", seq=1)
        self.spend(1)
        self.successResultOf(pressed)
        self.assertEqual(DONE, self.successResultOf(raw))
        self.assertEqual((["Down"], []), (pane.keys, pane.pastes))
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(held))
        self.assertEqual((["hello"], ["Down", "Enter"]), (pane.pastes, pane.keys))

    def test_nothing_passes_inputs_of_its_own_client(self) -> None:
        held = self.type(self.agent_session, "hello\r", client_id="a", seq=1)
        raw = self.type(self.agent_session, "\x1b", client_id="a", seq=2)
        self.spend(1)
        self.assertNoResult(raw)
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual([DONE, DONE], [self.successResultOf(each) for each in (held, raw)])
        again = self.type(self.agent_session, "\x1b", client_id="a", seq=2)
        self.assertEqual(AGAIN, self.successResultOf(again))

    def test_a_process_that_ends_meanwhile(self) -> None:
        answer = self.type(self.agent_session, "hello\r")
        self.pane(self.agent_session).exit(0)
        self.gate.held[0].callback(None)
        self.assertEqual(ErrorCode.CONFLICT, self.code(answer))


@implementer(IInputGate)
class HeldGate:
    """Opens when a test says so."""

    def __init__(self) -> None:
        self.held: list[Deferred[None]] = []

    async def ready(self, session: Session) -> None:
        self.held.append(Deferred())
        await self.held[-1]

    def asks(self, session: Session, capture: Capture, typed: str) -> str | None:
        return None

    def opened(self, session: Session, capture: Capture) -> str | None:
        return None

    async def submitted(self, session: Session, text: str, since: int) -> bool | None:
        return None


async def _never(*args: object) -> None:
    await Deferred()
