"""The agents in the sessions, put together."""

from __future__ import annotations

from collections.abc import Callable

from tservice.agents.build import AgentParts, Surroundings, build_agents
from tservice.agents.inbox_build import (
    ApprovalParts,
    ApprovalSurroundings,
    build_approvals,
    local_zone,
)
from tservice.clis.build import Clis
from tservice.core.doors.threads import Door
from tservice.core.stack import Closing, ServiceStack
from tservice.sessions.life.activity import PlainSources
from tservice.sessions.service import SessionService
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.tap.base import Base


def wire_agents(
    base: Base,
    database: Database,
    settings: SettingsService,
    clis: Clis,
    sessions: Callable[[], SessionService],
    files: Door,
    stack: ServiceStack,
) -> AgentParts:
    """What the sessions are told by the agents in them."""
    agents = build_agents(
        Surroundings(
            clock=base.reactor,
            database=database,
            hub=base.hub,
            clis=clis.registry,
            settings=settings,
            sessions=sessions,
            shells=PlainSources(base.reactor, clis.registry),
            home=base.home,
            environ=base.environ,
            in_thread=files.run,
            os_users=base.os_users.users,
            files=files,
        )
    )
    Closing("agents", agents.close).setServiceParent(stack)
    return agents


def wire_approvals(
    base: Base,
    database: Database,
    settings: SettingsService,
    agents: AgentParts,
    clis: Clis,
    sessions: SessionService,
    files: Door,
    stack: ServiceStack,
) -> ApprovalParts:
    """What the agents ask, what they said, and what is done for them; not started yet."""
    asked = build_approvals(
        ApprovalSurroundings(
            clock=base.reactor,
            database=database,
            hub=base.hub,
            sessions=sessions,
            agents=agents.agents,
            clis=clis.registry,
            settings=settings,
            home=base.home,
            local=local_zone(base.environ),
            in_thread=lambda work: files.run(work, "transcripts"),
            os_users=base.os_users.users,
        )
    )
    Closing("approvals", asked.stop).setServiceParent(stack)
    return asked
