"""Usage limits and automatic commands, put together."""

from __future__ import annotations

from attrs import frozen

from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.service import Transcripts
from tservice.agents.upkeep.automatic import Automatic
from tservice.agents.upkeep.limits import Limits
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.sessions.interfaces import ISessions


@frozen(kw_only=True)
class Upkeep:
    """What is done for the agents by itself."""

    limits: Limits
    automatic: Automatic


def build_upkeep(
    ground: Ground, *, sessions: ISessions, agents: IAgents, transcripts: Transcripts
) -> Feature[Upkeep]:
    """Sessions that reached a limit go on once it is over; long conversations are made short."""
    limits = Limits(ground.reactor, sessions, agents, ground.hub, ground.zone)
    automatic = Automatic(ground.reactor, sessions, agents, ground.hub)
    transcripts.observers += [automatic.counted, limits.counted]

    def start() -> None:
        automatic.start()
        limits.start()

    def close() -> None:
        limits.stop()
        automatic.stop()

    return Feature(
        name="upkeep",
        service=Upkeep(limits=limits, automatic=automatic),
        start=start,
        close=close,
    )
