"""Factory of the approval inbox feature."""

from __future__ import annotations

from tservice.agents.approvals.answer_delivery import AnswerChannel
from tservice.agents.approvals.folders import FolderQuestionAnswerer
from tservice.agents.approvals.inbox import ApprovalInbox
from tservice.agents.approvals.routes import ApprovalRoutes
from tservice.agents.approvals.service import ApprovalService
from tservice.agents.approvals.store import ApprovalStore
from tservice.agents.foldertrust.service import FolderTrust
from tservice.agents.interfaces import IAgents
from tservice.clis.interfaces import ICliRegistry
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_approvals(
    ground: Runtime,
    *,
    sessions: ISessions,
    agents: IAgents,
    clis: ICliRegistry,
    trust: FolderTrust,
    channel: AnswerChannel,
) -> FeatureRegistration[ApprovalService]:
    """Return the feature of the approval inbox, whose items stay stored when it stops.

    @param trust: the check of working folders, which asks its questions in this inbox from now on.
    @param channel: gives answers that need no keys.
    """
    store = ApprovalStore(ground.database)
    inbox = ApprovalInbox(ground.reactor, store, ground.hub, channel.takes_reason)
    folders = FolderQuestionAnswerer(inbox, sessions, trust)
    trust.questions = folders.questions
    approvals = ApprovalService(
        ground.reactor, inbox, sessions, agents, clis, ground.settings, folders, channel
    )
    return FeatureRegistration(
        name="approvals",
        service=approvals,
        operations=collect_operations(ApprovalRoutes(approvals)),
        initial_state={"approvals": approvals.list_known},
        start=lambda: approvals.start(ground.hub),
        close=approvals.stop,
    )
