"""The sessions, their waits and their terminals, put together."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from attrs import frozen

from tservice.access import hooksecret
from tservice.agents.build import AgentParts, build_agents
from tservice.agents.build import Surroundings as AgentSurroundings
from tservice.agents.routes import agent_operations
from tservice.clis.build import Clis
from tservice.core.events import Event
from tservice.core.listening import Listener
from tservice.core.stack import Closing, ServiceStack
from tservice.http.operations import Operation
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.sessions.activity import PlainSources
from tservice.sessions.build import Surroundings, build_sessions
from tservice.sessions.outputwaits import OutputWaits
from tservice.sessions.routes import session_operations
from tservice.sessions.service import SessionService
from tservice.sessions.socket_routes import SocketRoutes, Typed
from tservice.sessions.sockets import TerminalSockets
from tservice.sessions.waiting import Waiting
from tservice.sessions.waits import WaitCaps, WaitSlots
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.tap.base import Base


@frozen(kw_only=True)
class Sessions:
    """The sessions, and what reaches them."""

    service: SessionService
    agents: AgentParts
    waiting: Waiting
    operations: list[Operation]


def wire_sessions(
    base: Base,
    database: Database,
    settings: SettingsService,
    clis: Clis,
    mux: TmuxMultiplexer,
    listener: Callable[[], Listener],
    stack: ServiceStack,
    typed: Typed,
) -> Sessions:
    """The sessions, their waits and their terminals."""
    config = base.config
    agents = wire_agents(base, database, settings, clis, lambda: service, stack)
    service = build_sessions(
        Surroundings(
            clock=base.reactor,
            database=database,
            mux=mux,
            clis=clis.registry,
            hub=base.hub,
            settings=settings,
            config=config,
            home=base.home,
            api_url=lambda: config.api_url or listener().local_url(config.base_path) or "",
            hook_secret_file=config.data_dir / hooksecret.FILE_NAME,
            random_bytes=os.urandom,
            activity=agents.agents,
            gate=agents.gate,
            preparation=agents.preparation,
        )
    )
    Closing("sessions", service.close).setServiceParent(stack)
    slots = WaitSlots(
        WaitCaps(
            per_session=config.wait_max_per_session,
            total=config.wait_max_total,
            per_owner=config.wait_max_per_owner,
        )
    )
    outputs = OutputWaits(base.reactor, slots)
    waiting = Waiting(base.reactor, service, slots, outputs, base.hub, lambda session_id: False)
    Closing("waits", waiting.stop).setServiceParent(stack)
    terminals = TerminalSockets(base.reactor, service.pane_of, outputs.waiting_for)
    Closing("terminals", base.hub.subscribe(follow_panes(terminals))).setServiceParent(stack)
    routes = SocketRoutes(service, terminals, lambda: secrets.token_hex(8), typed)
    return Sessions(
        service=service,
        agents=agents,
        waiting=waiting,
        operations=[
            *session_operations(service, waiting),
            *routes.operations(),
            *agent_operations(agents.hooks, agents.telemetry),
        ],
    )


def wire_agents(
    base: Base,
    database: Database,
    settings: SettingsService,
    clis: Clis,
    sessions: Callable[[], SessionService],
    stack: ServiceStack,
) -> AgentParts:
    """What the sessions are told by the agents in them."""
    agents = build_agents(
        AgentSurroundings(
            clock=base.reactor,
            database=database,
            hub=base.hub,
            clis=clis.registry,
            settings=settings,
            sessions=sessions,
            shells=PlainSources(base.reactor, clis.registry),
            home=base.home,
            environ=base.environ,
        )
    )
    Closing("agents", agents.close).setServiceParent(stack)
    return agents


def follow_panes(terminals: TerminalSockets) -> Callable[[Event], None]:
    """Tells the terminals' sockets of a session's new pane, and of its end."""

    def heard(event: Event) -> None:
        if event.session_id is None:
            return
        if event.name == "session:deleted":
            terminals.deleted(event.session_id)
        else:
            terminals.look(event.session_id)

    return heard
