"""Factory of the transcripts feature."""

from __future__ import annotations

from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.history import History
from tservice.agents.transcripts.homes import Homes, own_files
from tservice.agents.transcripts.prices import Prices, packaged_prices
from tservice.agents.transcripts.routes import TranscriptRoutes
from tservice.agents.transcripts.service import Transcripts
from tservice.agents.transcripts.usage.positions import TranscriptStore
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.clis.interfaces import ICliRegistry
from tservice.core.doors.thread_runners import make_owner_runner
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.sessions.interfaces import ISessions


def build_transcripts(
    ground: Ground, *, sessions: ISessions, agents: IAgents, clis: ICliRegistry
) -> Feature[Transcripts]:
    """Return the feature that reads the agents' conversation records, with the rights of their
    OS users.
    """
    homes = Homes(
        own=own_files(ground.home, clis),
        places=ground.places,
        inside=ground.bounds.get_folder_limit,
    )
    store, usage = TranscriptStore(ground.database), UsageStore(ground.database)
    prices = Prices(packaged=packaged_prices(), chosen=lambda: ground.settings.get().model_prices)
    look = make_owner_runner(ground.doors.files)
    transcripts = Transcripts(ground.reactor, sessions, agents, homes, store, usage, look, prices)
    history = History(sessions, homes, look, ground.reactor.seconds)
    return Feature(
        name="transcripts",
        service=transcripts,
        operations=TranscriptRoutes(transcripts, history).operations(),
        start=lambda: transcripts.start(ground.hub),
        close=transcripts.stop,
    )
