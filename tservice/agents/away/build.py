"""Assembly of the summary of what happened while a person was away."""

from __future__ import annotations

from collections.abc import Sequence

from tservice.agents.away.routes import AwayRoutes
from tservice.agents.away.service import AwayService, FindCheckState
from tservice.agents.away.store import AbsenceStore
from tservice.agents.transcripts.conversation.items import ConversationItem
from tservice.agents.transcripts.conversation.service import ConversationService
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_away(
    ground: Runtime,
    *,
    sessions: ISessions,
    conversations: ConversationService,
    find_check_state: FindCheckState,
) -> FeatureRegistration[AwayService]:
    """Build the counts of turns and answers, and the operations that show them.

    @param find_check_state: see L{AwayService}.
    """

    async def read_items(session_id: str, limit: int) -> Sequence[ConversationItem]:
        page = await conversations.read_latest(session_id, limit)
        return () if page is None else page.items

    away = AwayService(
        clock=ground.reactor,
        hub=ground.hub,
        sessions=sessions,
        store=AbsenceStore(ground.database),
        read_items=read_items,
        find_check_state=find_check_state,
    )
    return FeatureRegistration(
        name="away",
        service=away,
        operations=collect_operations(AwayRoutes(away, ground.config.multiuser)),
        start=away.start,
        close=away.stop,
    )
