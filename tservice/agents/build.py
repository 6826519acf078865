"""Putting the agents together from what the program hands in.

The sessions are made after the agents and need them: hand C{agents} (as the activity), C{gate} and
C{preparation} of the result to C{build_sessions}, and the sessions to C{sessions} by a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.gate import AgentGate
from tservice.agents.activity.sources import Agents, Around
from tservice.agents.hooks.files import HookConfig
from tservice.agents.hooks.install import HookPreparation
from tservice.agents.hooks.intake import HookIntake
from tservice.agents.hooks.telemetry import TelemetryIntake
from tservice.agents.store import AgentStore
from tservice.agents.transcripts.homes import Homes, own_files
from tservice.agents.transcripts.proofs import Proofs
from tservice.agents.transcripts.service import InThread
from tservice.clis.interfaces import ICliRegistry
from tservice.core.doors.threads import IThreads, NoThreads
from tservice.core.events import EventHub
from tservice.core.users.osuser import OsUsers
from tservice.sessions.interfaces import IActivitySources, ISessions
from tservice.settings.interfaces import ISettings
from tservice.store.database import Database


@frozen(kw_only=True)
class Surroundings:
    """What the agents live on.

    @ivar home: of whoever the panes run as.
    @ivar environ: what the service was started with.
    @ivar sessions: the sessions; not asked before one of them starts.
    @ivar shells: finds out what shells do.
    @ivar in_thread: runs what reads files; at once in tests.
    @ivar os_users: those that panes run as in place of the service's own.
    @ivar files: the door for what users' folders hold.
    """

    clock: IReactorTime
    database: Database
    hub: EventHub
    clis: ICliRegistry
    settings: ISettings
    sessions: Callable[[], ISessions]
    shells: IActivitySources
    home: Path
    environ: Mapping[str, str]
    in_thread: InThread
    os_users: OsUsers = field(factory=OsUsers)
    files: IThreads = field(factory=NoThreads)


@frozen(kw_only=True)
class AgentParts:
    """The parts.

    @ivar agents: as L{IAgents} for other features, as L{IActivitySources} for the sessions.
    """

    agents: Agents
    gate: AgentGate
    preparation: HookPreparation
    hooks: HookIntake
    telemetry: TelemetryIntake

    def close(self) -> None:
        """Hear of nothing any more; the watches end with their sessions."""
        self.hooks.stop()
        self.telemetry.stop()


def build_agents(around: Surroundings) -> AgentParts:
    """The agents; C{agents.routes.agent_operations(hooks, telemetry)} are their routes."""
    store = AgentStore(around.database)
    agents = Agents(
        Around(
            clock=around.clock,
            sessions=around.sessions,
            clis=around.clis,
            shells=around.shells,
            store=store,
            environ=around.environ,
            os_users=around.os_users,
            files=around.files,
        )
    )
    homes = Homes(own=own_files(around.home, around.clis), os_users=around.os_users)
    proofs = Proofs(homes, agents.transcript_of, around.in_thread)
    return AgentParts(
        agents=agents,
        gate=AgentGate(agents.readiness_of, agents.rules_of, proofs),
        preparation=HookPreparation(
            HookConfig(around.home),
            around.settings,
            around.clis,
            around.sessions,
            around.os_users,
            around.files,
        ),
        hooks=HookIntake(
            around.clock, around.hub, around.sessions, around.clis, agents, store, proofs
        ),
        telemetry=TelemetryIntake(around.clock, around.hub, around.sessions, store),
    )
