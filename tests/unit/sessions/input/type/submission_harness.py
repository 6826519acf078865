"""A running agent, and an input gate that knows what it was given."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from zope.interface import implementer

from tests.fakes.multiplexer.multiplexer import FakeProgram
from tests.unit.sessions.harness import SessionCase
from tests.unit.sessions.scripted_agent import ComposerAgent
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import PaneCapture, PaneSpec
from tservice.sessions.input.type.submitter import LEAVING, PATIENCE
from tservice.sessions.interfaces import IInputGate, InputDelivery, PromptClaim, PromptReport
from tservice.sessions.record.model import Session
from tservice.sessions.service import PassThroughGate

DONE = InputDelivery(delivered=True)
AGAIN = InputDelivery(delivered=False, duplicate=True)
LONG = 4 * (sum(LEAVING) + sum(PATIENCE)) + 10


class AgentClaim:
    """A prompt of which the agent itself is asked, which had some such before."""

    def __init__(self, gate: KnowingGate, text: str) -> None:
        self._gate, self._text = gate, text
        self._before = self._count()

    async def get_report(self) -> PromptReport:
        if not self._gate.tells or self._gate.agent is None:
            return PromptReport.NOTHING
        return PromptReport.SUBMITTED if self._count() > self._before else PromptReport.NOT_YET

    def _count(self) -> int:
        agent = self._gate.agent
        return 0 if agent is None else [*map(str.strip, agent.prompts)].count(self._text)


@implementer(IInputGate)
class KnowingGate(PassThroughGate):
    """Asks the agent itself what it was given."""

    def __init__(self) -> None:
        self.agent: ComposerAgent | None = None
        self.tells: bool | None = True
        self.asking: str | None = None

    def describe_dialog(self, session: Session, capture: PaneCapture, typed: str) -> str | None:
        return self.asking

    def claim_prompt(self, session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        return AgentClaim(self, text.strip())

    def find_opened_view(self, session: Session, capture: PaneCapture) -> str | None:
        screen = b"".join(capture.lines)
        return "picker" if b"1. Yes" in screen or b"Esc to close" in screen else None

    def is_at_rest(self, session: Session, capture: PaneCapture) -> bool:
        screen = b"".join(capture.lines)
        return b"shortcuts" in screen or "╹".encode() in screen


class SubmissionCase(SessionCase):
    """A running agent."""

    mode = "primary"

    def program(self, spec: PaneSpec) -> FakeProgram:
        self.agent = ComposerAgent()
        return self.agent

    def setUp(self) -> None:
        super().setUp()
        self.gate = self.machine.gate = KnowingGate()
        self.machine.restart()
        self.session = self.create(mode=self.mode, start=True)
        self.gate.agent = self.agent
        self.hosted = self.pane(self.session)

    def send(self, text: str, seq: int = 1) -> Deferred[InputDelivery]:
        return self.type(self.session, text, client_id="c", seq=seq)

    def refused(self, answer: Deferred[InputDelivery]) -> str:
        error: ServiceError = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        return error.message

    @property
    def enters(self) -> int:
        return self.hosted.keys.count("Enter")
