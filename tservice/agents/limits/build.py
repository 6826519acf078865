"""Factory of the feature for usage limits and automatic commands."""

from __future__ import annotations

from attrs import frozen
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.agents.limits.automatic_commands import AutomaticCommands
from tservice.agents.limits.usage_limits import UsageLimitService
from tservice.agents.transcripts.service import TranscriptService
from tservice.clis.interfaces import PRIMARY
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions

_log = Logger()


@frozen(kw_only=True)
class AgentLimitServices:
    """Services that act on agents without a request of a user."""

    limits: UsageLimitService
    automatic: AutomaticCommands


def build_agent_limits(
    ground: Runtime, *, sessions: ISessions, agents: IAgents, transcripts: TranscriptService
) -> FeatureRegistration[AgentLimitServices]:
    """Return the feature that resumes sessions after usage limits and shortens conversations."""
    limits = UsageLimitService(ground.reactor, sessions, agents, ground.hub, ground.time_zone)
    automatic = AutomaticCommands(ground.reactor, sessions, agents, ground.hub)
    transcripts.observers += [automatic.handle_tally, limits.handle_tally]

    async def read_missed_transcript(session_id: str) -> None:
        """Handle the lines of the transcript that were written while the service was down."""
        try:
            found = await transcripts.read_new_part(session_id)
        except ServiceError as error:
            _log.info("{id}: not read: {error}", id=session_id, error=error)
            return
        automatic.handle_tally(session_id, found.tally)
        session = sessions.get(session_id)
        if session.limit_paused and session.auto_resume.resume_at is None:
            limits.handle_tally(session_id, found.tally)

    def start_services() -> None:
        automatic.start()
        limits.start()
        for session in sessions.list():
            if session.pid is not None and session.mode == PRIMARY:
                spawn_logged(read_missed_transcript(session.id), _log, "reading a transcript")

    def stop_services() -> None:
        limits.stop()
        automatic.stop()

    return FeatureRegistration(
        name="upkeep",
        service=AgentLimitServices(limits=limits, automatic=automatic),
        start=start_services,
        close=stop_services,
    )
