"""Whatever is lost, late or killed in between: every accepted input is typed exactly once.

Clients number their inputs, send them in order, and send again, in order, whatever was not
answered with C{delivered} or C{duplicate}.  In the end each text stands in the pane once, in the
order of its client, and each prompt got exactly one Enter.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import pytest
from attrs import define, field
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.fakes.multiplexer.multiplexer import FakeTty
from tests.unit.sessions.harness import ADMIN, SessionHarness, start_coroutine
from tservice.core.kernel.errors import ServiceError
from tservice.mux.interface import MuxError, MuxTimeout
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.record.requests import CreateRequest, InputRequest

CLIENTS = ("a", "b")
EXAMPLES = example_count(400)

_T = TypeVar("_T")


@define
class SentInput:
    """One input of a client."""

    client: str
    seq: int
    text: str
    typed: bool
    answered: bool = False
    waiting: bool = False


@define
class ResendingClient:
    """A client that sends again what was not answered."""

    name: str
    sent: list[SentInput] = field(factory=list)


class MuteProgram:
    """A program that takes pastes and says nothing."""

    def pane_started(self, tty: FakeTty) -> None:
        tty.emit_output(b"\x1b[?2004h")

    def input_received(self, data: bytes) -> None:
        """The pane keeps what was typed."""

    def pane_resized(self, cols: int, rows: int) -> None:
        """It draws nothing."""


class InputJournalMachine(RuleBasedStateMachine):
    """Inputs, faults, pauses and kills in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = SessionHarness(Path("machine").absolute(), lambda spec: MuteProgram())
        self.finish(self.machine.sessions.load_and_adopt_sessions())
        request = CreateRequest(mode="shell", start=True)
        self.id = self.finish(self.machine.sessions.create(request, ADMIN)).id
        self.pane = self.machine.host[self.id]
        self.clients = {name: ResendingClient(name) for name in CLIENTS}
        self.count = 0

    def teardown(self) -> None:
        self.settle()
        self.check()

    # -- what happens

    @rule(
        name=st.sampled_from(CLIENTS),
        prompt=st.booleans(),
        long=st.booleans(),
        typed=st.booleans(),
    )
    def send(self, name: str, prompt: bool, long: bool, typed: bool) -> None:
        client = self.clients[name]
        # A client gives the next number only once all before it are on their way in order.
        if self.left_over(client):
            self.send_again(name)
        if self.left_over(client):
            return
        self.count += 1
        filling = "." * 2300 if long else ""
        text = f"<{name}{self.count}{filling}>" + ("\r" if prompt else "")
        client.sent.append(SentInput(client=name, seq=len(client.sent), text=text, typed=typed))
        self.deliver(client.sent[-1])

    @rule(name=st.sampled_from(CLIENTS))
    def send_again(self, name: str) -> None:
        if any(it.waiting for it in self.clients[name].sent):
            return
        for it in self.clients[name].sent:
            if not it.answered:
                self.deliver(it)

    @rule(name=st.sampled_from(CLIENTS), which=st.integers(0, 20))
    def repeat_an_answered_one(self, name: str, which: int) -> None:
        done = [it for it in self.clients[name].sent if it.answered]
        if done:
            it = done[which % len(done)]
            answer = self.deliver(it)
            answer.addCallback(self.is_duplicate)

    @precondition(lambda self: not self.refusing)
    @rule(
        operation=st.sampled_from(["paste", "send_key", "write", "last_mark"]),
        effect=st.booleans(),
        skip=st.integers(0, 2),
    )
    def lose_an_answer(self, operation: str, effect: bool, skip: int) -> None:
        self.pane.inject_fault(operation, MuxTimeout("lost"), effect=effect, skip=skip)

    @precondition(lambda self: not self.refusing)
    @rule(operation=st.sampled_from(["paste", "send_key", "write"]), questions=st.integers(1, 3))
    def lose_an_answer_and_what_is_asked_then(self, operation: str, questions: int) -> None:
        self.pane.inject_fault(operation, MuxTimeout("lost"), effect=True)
        for _ in range(questions):
            self.pane.inject_fault("last_mark", MuxTimeout("lost"))

    # An input that was typed in part and is then refused for good is told and not finished;
    # so refusals begin only where no write stands, or may come to stand, in its middle.
    @precondition(lambda self: not self.pane._faults and not self.torn)
    @rule(times=st.sampled_from([1, 3]))
    def refuse(self, times: int) -> None:
        for _ in range(times):
            self.pane.inject_fault("paste", MuxError("refused"))
            self.pane.inject_fault("write", MuxError("refused"))

    @property
    def refusing(self) -> bool:
        return any(not isinstance(fault.error, MuxTimeout) for fault in self.pane._faults)

    @rule(seconds=st.sampled_from([0.1, 0.2, 1.0, 4.0, 12.0]))
    def wait(self, seconds: float) -> None:
        self.spend(seconds)

    @rule()
    def stall(self) -> None:
        self.pane.stop_answering()

    @precondition(lambda self: self.pane.is_stopped)
    @rule()
    def go_on(self) -> None:
        self.pane.resume_answering()

    @rule()
    def kill_the_service(self) -> None:
        for client in self.clients.values():
            for it in client.sent:
                it.waiting = False
        self.machine.restart()

    # -- the end

    def settle(self) -> None:
        """Everything is sent until it is answered."""
        self.pane.resume_answering()
        self.pane._faults.clear()
        for _ in range(10):
            self.spend(20)
            if all(it.answered for client in self.clients.values() for it in client.sent):
                return
            for name in CLIENTS:
                self.send_again(name)
        raise AssertionError("an input is never answered")

    def check(self) -> None:
        found = self.found()
        assert not self.torn, f"torn: {self.plain!r}"
        for client in self.clients.values():
            mine = [text for text in found if text.startswith(f"<{client.name}")]
            assert mine == [it.text for it in client.sent], (mine, client.sent)
        assert not self.machine.database.query_rows("SELECT * FROM input_journal")

    # -- helpers

    @property
    def plain(self) -> str:
        typed = bytes(self.pane.typed).decode()
        return typed.replace("\x1b[200~", "").replace("\x1b[201~", "")

    def found(self) -> list[str]:
        """The inputs that stand in the pane whole."""
        return re.findall(r"<[^<>]*>\r?", self.plain)

    @property
    def torn(self) -> bool:
        return "".join(self.found()) != self.plain

    def left_over(self, client: ResendingClient) -> bool:
        """Whether an input is neither answered nor on its way."""
        return any(not it.answered and not it.waiting for it in client.sent)

    def deliver(self, it: SentInput) -> Deferred[InputDelivery | None]:
        request = InputRequest(text=it.text, client_id=it.client, seq=it.seq, typed=it.typed)
        it.waiting = True
        service = self.machine.sessions

        def done(delivery: InputDelivery) -> InputDelivery:
            if service is self.machine.sessions:
                it.answered, it.waiting = True, False
            return delivery

        def refused(why: Failure) -> None:
            why.trap(ServiceError)
            if service is self.machine.sessions:
                it.waiting = False

        answer = start_coroutine(service.send_input(self.id, request))
        return answer.addCallbacks(done, refused)

    def is_duplicate(self, delivery: InputDelivery | None) -> None:
        assert delivery is None or delivery.duplicate

    def finish(self, work: Awaitable[_T]) -> _T:
        found: list[_T] = []
        start_coroutine(work).addCallback(found.append)
        return found[0]

    def spend(self, seconds: float) -> None:
        self.machine.spend(seconds)


class ExactlyOnceTests(SynchronousTestCase):
    """See the module's docstring."""

    @pytest.mark.long
    def test_input_is_typed_exactly_once_over_failures_and_crashes(self) -> None:
        run_state_machine_as_test(
            InputJournalMachine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=15,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
