"""A running agent and a running shell to type into."""

from __future__ import annotations

from twisted.internet.defer import Deferred

from tests.unit.sessions.agent import ComposerAgent
from tests.unit.sessions.rig import SessionCase
from tservice.core.errors import ErrorCode, ServiceError
from tservice.mux.interface import PaneSpec
from tservice.mux.testing.multiplexer import EchoShell, FakeProgram
from tservice.sessions.interfaces import Delivery

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
