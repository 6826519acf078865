"""A running agent and a running shell to type into."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from zope.interface import implementer

from tests.fakes.multiplexer.multiplexer import EchoShell, FakeProgram
from tests.unit.sessions.harness import SessionCase
from tests.unit.sessions.scripted_agent import ComposerAgent
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import PaneCapture, PaneSpec
from tservice.sessions.interfaces import IInputGate, InputDelivery, PromptClaim
from tservice.sessions.record.model import Session
from tservice.sessions.service import UnreportedClaim

DONE, AGAIN = InputDelivery(delivered=True), InputDelivery(delivered=False, duplicate=True)


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

    def code(self, answer: Deferred[InputDelivery]) -> ErrorCode:
        error: ServiceError = self.failureResultOf(answer, ServiceError).value
        return error.code


@implementer(IInputGate)
class HeldGate:
    """Opens when a test says so."""

    def __init__(self) -> None:
        self.held: list[Deferred[None]] = []

    async def wait_until_ready(self, session: Session) -> None:
        self.held.append(Deferred())
        await self.held[-1]

    def describe_dialog(self, session: Session, capture: PaneCapture, typed: str) -> str | None:
        return None

    def find_opened_view(self, session: Session, capture: PaneCapture) -> str | None:
        return None

    def is_at_rest(self, session: Session, capture: PaneCapture) -> bool:
        return True

    def claim_prompt(self, session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        return UnreportedClaim()
