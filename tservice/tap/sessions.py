"""The sessions, their waits and their terminals, put together."""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable

from attrs import frozen

from tservice.access import hooksecret
from tservice.agents.approvals.routes import approval_operations
from tservice.agents.build import AgentParts
from tservice.agents.hooks.routes import agent_operations
from tservice.agents.inbox_build import ApprovalParts, own_homes
from tservice.agents.transcripts.conversations import Conversations
from tservice.clis.build import Clis
from tservice.core.doors.reach import IReach
from tservice.core.doors.threads import Doors
from tservice.core.events import Event
from tservice.core.net.listening import Listener
from tservice.core.stack import Closing, ServiceStack
from tservice.http.operations import Operation
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.sessions.build import Surroundings, build_sessions
from tservice.sessions.output.rooms import TerminalSockets
from tservice.sessions.routes.socket import SocketRoutes, Typed
from tservice.sessions.routes.table import session_operations
from tservice.sessions.service import SessionService
from tservice.sessions.waits.output import OutputWaits
from tservice.sessions.waits.service import Waiting
from tservice.sessions.waits.signals import WaitCaps, WaitSlots
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.tap.agents import wire_agents, wire_approvals
from tservice.tap.base import Base


@frozen(kw_only=True)
class Sessions:
    """The sessions, and what reaches them.

    @ivar open: reads the sessions, takes up what runs, and lets the rest begin to hear.
    """

    service: SessionService
    agents: AgentParts
    asked: ApprovalParts
    waiting: Waiting
    open: Callable[[], Awaitable[None]]
    operations: list[Operation]


@frozen(kw_only=True)
class Outside:
    """What the sessions touch of the world, and how without waiting for it."""

    base: Base
    doors: Doors
    reach: IReach


def wire_sessions(
    outside: Outside,
    database: Database,
    settings: SettingsService,
    clis: Clis,
    mux: TmuxMultiplexer,
    listener: Callable[[], Listener],
    stack: ServiceStack,
    typed: Typed,
) -> Sessions:
    """The sessions, their waits and their terminals."""
    base, doors, reach = outside.base, outside.doors, outside.reach
    config = base.config
    agents = wire_agents(base, database, settings, clis, lambda: service, doors.files, stack)
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
            conversations=Conversations(
                lambda: own_homes(base.home, clis.registry, base.os_users.users), doors.files.run
            ),
            os_users=base.os_users.for_sessions(),
            reach=reach,
            files=doors.files,
        )
    )
    Closing("sessions", service.close).setServiceParent(stack)
    asked = wire_approvals(base, database, settings, agents, clis, service, doors.files, stack)
    waiting, terminals = wire_readers(base, service, asked.approvals.blocked, stack)
    routes = SocketRoutes(service, terminals, lambda: secrets.token_hex(8), typed)

    async def open_all() -> None:
        await service.open()
        asked.start()

    return Sessions(
        service=service,
        agents=agents,
        asked=asked,
        waiting=waiting,
        open=open_all,
        operations=[
            *session_operations(service, waiting),
            *routes.operations(),
            *agent_operations(agents.hooks, agents.telemetry),
            *approval_operations(asked.approvals, asked.transcripts, asked.history),
        ],
    )


def wire_readers(
    base: Base, service: SessionService, blocked: Callable[[str], bool], stack: ServiceStack
) -> tuple[Waiting, TerminalSockets]:
    """Who reads what the sessions print and signal.

    @param blocked: whether a session's agent waits for an answer.
    """
    config = base.config
    slots = WaitSlots(
        WaitCaps(
            per_session=config.wait_max_per_session,
            total=config.wait_max_total,
            per_owner=config.wait_max_per_owner,
        )
    )
    outputs = OutputWaits(base.reactor, slots)
    waiting = Waiting(base.reactor, service, slots, outputs, base.hub, blocked)
    Closing("waits", waiting.stop).setServiceParent(stack)
    terminals = TerminalSockets(base.reactor, service.pane_of, outputs.waiting_for)
    Closing("terminals", base.hub.subscribe(follow_panes(terminals))).setServiceParent(stack)
    return waiting, terminals


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
