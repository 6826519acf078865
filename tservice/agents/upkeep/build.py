"""Factory of usage limits and automatic commands."""

from __future__ import annotations

from attrs import frozen
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.service import Transcripts
from tservice.agents.upkeep.automatic import PRIMARY, Automatic
from tservice.agents.upkeep.limits import Limits
from tservice.core.errors import ServiceError
from tservice.core.tasks import spawn_logged
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.sessions.interfaces import ISessions

_log = Logger()


@frozen(kw_only=True)
class Upkeep:
    """Automatic services for the agents."""

    limits: Limits
    automatic: Automatic


def build_upkeep(
    ground: Ground, *, sessions: ISessions, agents: IAgents, transcripts: Transcripts
) -> Feature[Upkeep]:
    """Return the feature that resumes sessions after a usage limit, and shortens long
    conversations.
    """
    limits = Limits(ground.reactor, sessions, agents, ground.hub, ground.zone)
    automatic = Automatic(ground.reactor, sessions, agents, ground.hub)
    transcripts.observers += [automatic.counted, limits.counted]

    async def take_up(session_id: str) -> None:
        """Handle the part of the transcript that was written while the service was down."""
        try:
            found = await transcripts.refresh(session_id)
        except ServiceError as error:
            _log.info("{id}: not read: {error}", id=session_id, error=error)
            return
        automatic.counted(session_id, found.tally)
        session = sessions.get(session_id)
        if session.limit_paused and session.auto_resume.resume_at is None:
            limits.counted(session_id, found.tally)

    def start() -> None:
        automatic.start()
        limits.start()
        for session in sessions.list():
            if session.pid is not None and session.mode == PRIMARY:
                spawn_logged(take_up(session.id), _log, "reading a transcript")

    def close() -> None:
        limits.stop()
        automatic.stop()

    return Feature(
        name="upkeep",
        service=Upkeep(limits=limits, automatic=automatic),
        start=start,
        close=close,
    )
