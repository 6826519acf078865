"""Factory of the transcripts feature."""

from __future__ import annotations

from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache
from tservice.agents.transcripts.conversation.routes import ConversationRoutes
from tservice.agents.transcripts.conversation.service import ConversationService
from tservice.agents.transcripts.history import ConversationHistory
from tservice.agents.transcripts.prices import PriceTable, load_packaged_prices
from tservice.agents.transcripts.routes import TranscriptRoutes
from tservice.agents.transcripts.service import TranscriptService
from tservice.agents.transcripts.transcript_homes import (
    TranscriptHomes,
    find_own_locations,
)
from tservice.agents.transcripts.usage.position_store import ReadPositionStore
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.clis.interfaces import ICliRegistry
from tservice.core.kernel.late_binding import LateBinding
from tservice.core.workers.thread_runners import make_owner_runner
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_transcripts(
    ground: Runtime,
    *,
    sessions: ISessions,
    agents: IAgents,
    clis: ICliRegistry,
    conversations: LateBinding[ConversationService],
) -> FeatureRegistration[TranscriptService]:
    """Return the feature that reads agents' conversations, with the rights of their OS users.

    @param conversations: is bound to the reader of items.
    """
    homes = TranscriptHomes(
        own=find_own_locations(ground.home, clis),
        places=ground.locations,
        inside=ground.workspace_bounds.get_folder_limit,
    )
    store, usage = ReadPositionStore(ground.database), UsageStore(ground.database)
    prices = PriceTable(
        packaged=load_packaged_prices(), chosen=lambda: ground.settings.get().model_prices
    )
    look = make_owner_runner(ground.worker_pools.files)
    transcripts = TranscriptService(
        ground.reactor, sessions, agents, homes, store, usage, look, prices
    )
    readers = ReaderCache(prices.compute_message_cost)
    history = ConversationHistory(sessions, homes, look, ground.reactor.seconds, readers)
    items = conversations.bind_value(
        ConversationService(ground.reactor, sessions, transcripts, homes, readers)
    )

    def start() -> None:
        transcripts.start(ground.hub)
        items.start(ground.hub)

    def close() -> None:
        items.stop()
        transcripts.stop()

    return FeatureRegistration(
        name="transcripts",
        service=transcripts,
        operations=[
            *collect_operations(TranscriptRoutes(transcripts, history)),
            *collect_operations(ConversationRoutes(items, history)),
        ],
        measures=[
            make_gauge(
                "conversations_followed",
                "Conversations whose changes are published.",
                lambda: items.followed_count,
            )
        ],
        start=start,
        close=close,
    )
