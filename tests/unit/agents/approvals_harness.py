"""The approval inbox on the agents' rig."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from tests.event_helpers import to_wire
from tests.unit.agents.dialog_client import DialogClient
from tests.unit.agents.harness import COMPOSER, AgentHarnessCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.approvals.answer_delivery import AnswerChannel
from tservice.agents.approvals.answer_steps import AnswerAction, parse_answer
from tservice.agents.approvals.folders import FolderQuestionAnswerer
from tservice.agents.approvals.inbox import ApprovalInbox
from tservice.agents.approvals.model import ApprovalItem
from tservice.agents.approvals.service import ApprovalService
from tservice.agents.approvals.store import ApprovalStore
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import PaneSpec
from tservice.sessions.record.model import Session


class ApprovalCase(AgentHarnessCase):
    """Tests with an inbox and a client that asks."""

    def setUp(self) -> None:
        super().setUp()
        self.open_inbox()

    def open_inbox(self) -> None:
        self.inbox = ApprovalInbox(
            self.clock,
            ApprovalStore(self.machine.database),
            self.machine.hub,
            self.agents.channel.answers.takes_reason,
        )
        folders = FolderQuestionAnswerer(self.inbox, self.sessions, self.agents.trust)
        self.agents.trust.questions = folders.questions
        self.approvals = ApprovalService(
            self.clock,
            self.inbox,
            self.sessions,
            self.agents.agents,
            self.machine.clis,
            self.machine.settings,
            folders,
            self.answers,
        )
        self.approvals.start(self.machine.hub)
        self.addCleanup(self.approvals.stop)

    @property
    def answers(self) -> AnswerChannel:
        """What gives answers without keys."""
        return self.agents.channel.answers

    def play(self, spec: PaneSpec) -> DialogClient:
        return DialogClient()

    def client(self, session: Session) -> DialogClient:
        program = self.pane(session).program
        assert isinstance(program, DialogClient)
        return program

    def asked(self, *pages: Any, **hook: Any) -> Session:
        """A session whose agent asks, seen and heard of."""
        session = self.ready()
        self.spend(5)
        self.client(session).ask(*pages)
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest", **hook)
        self.spend(3)
        return session

    def item(self, session: Session) -> ApprovalItem:
        found = self.inbox.get_item(session.id)
        assert found is not None
        return found

    def start_answer(
        self, item: ApprovalItem, action: str, caller: Caller = ADMIN, **fields: Any
    ) -> Any:
        answer = parse_answer(AnswerAction(action), **fields)
        return start_coroutine(self.approvals.answer_item(item.id, answer, caller))

    def give(self, item: ApprovalItem, action: str, **fields: Any) -> ApprovalItem:
        """Answer, and let it take its time."""
        given: Deferred[ApprovalItem] = self.start_answer(item, action, **fields)
        self.spend(20)
        return self.successResultOf(given)

    def refused_answer(
        self, item: ApprovalItem, action: str, **fields: Any
    ) -> tuple[ErrorCode, str]:
        given = self.start_answer(item, action, **fields)
        self.spend(20)
        error: ServiceError = self.failureResultOf(given, ServiceError).value
        return error.code, error.message

    def told(self) -> list[tuple[str, Any]]:
        """The approval events since this was asked last."""
        found = [
            (event.name[9:], to_wire(event).get("resolution") or to_wire(event)["kind"])
            for event in self.machine.events
            if event.name.startswith("approval:")
        ]
        self.machine.events.clear()
        return found


__all__ = ["COMPOSER", "ApprovalCase"]
