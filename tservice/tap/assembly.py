"""How everything is put together: the table of contents."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.task import deferLater

from tservice.access.build import build_access
from tservice.agents.approvals.build import build_approvals
from tservice.agents.build import build_agents
from tservice.agents.transcripts.build import build_transcripts
from tservice.agents.upkeep.build import build_upkeep
from tservice.audit.build import build_audit
from tservice.clis.build import build_clis
from tservice.core.late import Late
from tservice.core.net.listening import Listener
from tservice.core.stack import Closing, ServiceStack
from tservice.cron.build import build_cron
from tservice.doctor.build import build_doctor
from tservice.git.build import build_git
from tservice.ground.feature import Contents
from tservice.ground.ground import Ground
from tservice.ground.program import Program
from tservice.http.build import (
    build_faults,
    build_site,
    build_sockets,
)
from tservice.http.parked import ParkedCalls
from tservice.http.static import Pages
from tservice.mcp.build import build_mcp
from tservice.mux.build import build_mux
from tservice.notify.build import build_webhooks
from tservice.push.build import build_push
from tservice.sessions.build import build_sessions, build_workspaces
from tservice.sessions.routes.build import build_waits
from tservice.sessions.service import SessionService
from tservice.settings.build import build_settings
from tservice.status.build import build_streams
from tservice.tap.groundwork import lay_ground
from tservice.tap.root import Startup
from tservice.tunnel.build import build_tunnel


def assemble(program: Program, stack: ServiceStack) -> None:
    """Put everything together, bottom up; what joins first ends last."""
    ground, settings = lay_ground(program, stack)
    contents = Contents(stack)
    add = contents.add
    listener: Late[Listener] = Late("the listener")
    late: Late[SessionService] = Late("the sessions")
    api_url = api_url_of(ground, listener)

    add(build_faults())
    add(build_settings(settings))
    audit = add(build_audit(ground))
    log = audit.log
    clis = add(build_clis(ground))
    mux = add(build_mux(ground))
    inside = add(build_agents(ground, clis=clis, sessions=late))
    agents = inside.agents
    folders = build_workspaces(ground)
    life = build_sessions(
        ground, mux=mux, clis=clis, api_url=api_url, workspaces=folders, support=inside.support
    )
    sessions = late.set(add(life))
    inbox = add(build_approvals(ground, sessions=sessions, agents=agents))
    said = add(build_transcripts(ground, sessions=sessions, agents=agents, clis=clis))
    add(build_upkeep(ground, sessions=sessions, agents=agents, transcripts=said))
    add(build_waits(ground, sessions=sessions, blocked=inbox.blocked, typed=audit.routes.typed))
    tunnel = add(build_tunnel(ground, local_url=lambda: listener().local_url("")))
    sockets = add(build_sockets(ground))
    streams = add(build_streams(ground, sessions=sessions, tells=contents.tells))
    pages = Pages(Path(__file__).parents[1] / "static")
    parked = ParkedCalls()
    entrance = build_access(
        ground, audit=log, sessions=sessions, open_ones=(sockets, streams, parked),
        sse_clients=lambda: streams.count, pages=pages, tunnel=tunnel,
    )  # fmt: skip
    access = add(entrance)
    accounts = access.accounts
    add(build_git(ground, sessions=sessions))
    # Before the jobs, for it hears of runs that fail at once.
    add(build_webhooks(ground, sessions=sessions))
    add(build_push(ground, sessions=sessions, accounts=accounts))
    add(build_doctor(ground, clis=clis))
    add(build_mcp(ground, clis=clis))
    jobs = build_cron(
        ground, sessions=sessions, agents=agents, clis=clis, audit=log, accounts=accounts,
        folder=folders.folder,
    )  # fmt: skip
    add(jobs)
    site = build_site(
        ground, contents, gate=access.gate, pages=pages, sockets=sockets, parked=parked,
        heard=audit.routes.heard,
    )  # fmt: skip
    doors = listener.set(Listener(ground.reactor, program.addresses, site))
    startup = Startup(program, contents.start, doors, lambda: give_up(ground.reactor))
    # One turn of the reactor, in which what was just written leaves for those who read.
    last_words = Closing("last words", lambda: deferLater(ground.reactor, 0))
    for part in (sockets, last_words, streams, doors, startup):
        part.setServiceParent(stack)


def api_url_of(ground: Ground, listener: Late[Listener]) -> Callable[[], str]:
    """Where panes reach the service, once it listens."""
    config = ground.config
    return lambda: config.api_url or listener().local_url(config.base_path) or ""


def give_up(reactor: Any) -> None:
    """End the program with exit status 1: C{twistd} itself reports success after any stop."""
    atexit.register(os._exit, 1)
    reactor.stop()
