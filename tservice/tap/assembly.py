"""How everything is put together: the table of contents."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from tservice.access.build import AccessControl, build_access
from tservice.agents.approvals.build import build_approvals
from tservice.agents.approvals.service import Approvals
from tservice.agents.build import build_agents
from tservice.agents.controls.build import build_controls
from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.build import build_transcripts
from tservice.agents.transcripts.service import Transcripts
from tservice.agents.upkeep.build import build_upkeep
from tservice.audit.build import build_audit
from tservice.audit.service import AuditLog
from tservice.cases.build import build_cases
from tservice.cases.interfaces import ICases
from tservice.clis.build import build_clis
from tservice.clis.interfaces import ICliRegistry
from tservice.containers.build import build_containers
from tservice.core.late import Late
from tservice.core.net.listening import Listener
from tservice.core.stack import Closing, ServiceStack
from tservice.cron.build import build_cron, owners
from tservice.doctor.build import build_doctor
from tservice.files.build import build_files
from tservice.git.build import build_case_git, build_git, build_git_work
from tservice.ground.feature import Contents, Feature
from tservice.ground.ground import Ground
from tservice.ground.program import Program
from tservice.hosts.build import build_hosts
from tservice.http.build import (
    build_faults,
    build_site,
    build_sockets,
)
from tservice.http.parked import ParkedCalls
from tservice.http.static import Pages
from tservice.legacy.build import build_timed_runs
from tservice.mcp.build import build_mcp
from tservice.mind.build import build_mind
from tservice.models.build import build_models
from tservice.models.service import ModelService
from tservice.mux.build import build_mux
from tservice.notify.build import build_webhooks
from tservice.push.build import build_push
from tservice.restore.build import build_recollection, build_restore
from tservice.restore.recollection import Recollection
from tservice.sessions.build import build_sessions
from tservice.sessions.interfaces import IConversations
from tservice.sessions.routes.build import build_waits
from tservice.sessions.service import SessionService
from tservice.settings.build import build_settings
from tservice.status.build import build_streams
from tservice.tap.groundwork import lay_ground
from tservice.tap.root import Startup
from tservice.tunnel.build import build_tunnel
from tservice.webviews.build import build_webviews


def assemble(program: Program, stack: ServiceStack) -> None:
    """Put everything together, bottom up; what joins first ends last."""
    ground, settings = lay_ground(program, stack)
    contents = Contents(stack)
    add = contents.add
    listener: Late[Listener] = Late("the listener")
    late: Late[SessionService] = Late("the sessions")
    models: Late[ModelService] = Late("the custom models")

    add(build_faults())
    add(build_settings(settings))
    audit, clis = add(build_audit(ground)), add(build_clis(ground))
    hosts = add(build_hosts(ground, sessions=late))
    boxes = add(build_containers(ground, sessions=late))
    mux = add(build_mux(ground, {**hosts.setups, **boxes.setups}))
    inside = add(build_agents(ground, clis=clis, sessions=late))
    agents, work = inside.agents, add(build_git_work(ground))
    cases = add(build_cases(
        ground, git=work, hooks=inside.workspace_hooks, sessions=late, containers=boxes.service
    ))  # fmt: skip
    before = build_recollection(ground, clis=clis)
    life = build_sessions(
        ground, mux=mux, clis=clis, api_url=api_url_of(ground, listener), cases=cases,
        models=models, support=evolve(inside.support, recollection=before),
    )  # fmt: skip
    sessions = late.set(add(life))
    models.set(add(build_models(ground, clis=clis, sessions=sessions)))
    inbox = add(build_approvals(ground, sessions=sessions, agents=agents, clis=clis))
    add(build_controls(ground, sessions=sessions, agents=agents, clis=clis))
    said = add(build_transcripts(ground, sessions=sessions, agents=agents, clis=clis))
    add(build_upkeep(ground, sessions=sessions, agents=agents, transcripts=said))
    add(build_waits(
        ground, sessions=sessions, clis=clis, blocked=inbox.blocked, typed=audit.routes.typed
    ))  # fmt: skip
    tunnel = add(build_tunnel(ground, local_url=lambda: listener().local_url("")))
    sockets = add(build_sockets(ground))
    streams = add(build_streams(ground, sessions=sessions, tells=contents.tells))
    pages, parked = Pages(Path(__file__).parents[1] / "static"), ParkedCalls()
    access = add(build_access(
        ground, audit=audit.log, sessions=sessions, open_ones=(sockets, streams, parked),
        sse_clients=lambda: streams.count, pages=pages, tunnel=tunnel,
    ))  # fmt: skip
    # Before the jobs, for webhooks hear of runs that fail at once.
    for feature in leaves(
        ground, sessions=sessions, access=access, audit=audit.log, clis=clis, cases=cases,
        recollection=before, conversations=inside.support.conversations, transcripts=said,
        approvals=inbox, agents=agents, own_ports=lambda: listener().ports(),
    ):  # fmt: skip
        add(feature)
    add(build_cron(
        ground, sessions=sessions, agents=agents, clis=clis, audit=audit.log,
        accounts=access.accounts, cases=cases,
    ))  # fmt: skip
    site = build_site(
        ground, contents, gate=access.gate, pages=pages, sockets=sockets, parked=parked,
        heard=audit.routes.heard,
    )  # fmt: skip
    doors = listener.set(Listener(ground.reactor, program.addresses, site))
    startup = Startup(program, contents.start, doors, lambda: give_up(ground.reactor))
    for part in (sockets, last_words(ground.reactor), streams, doors, startup):
        part.setServiceParent(stack)


def leaves(
    ground: Ground,
    *,
    sessions: SessionService,
    access: AccessControl,
    audit: AuditLog,
    clis: ICliRegistry,
    cases: ICases,
    recollection: Recollection,
    conversations: IConversations,
    transcripts: Transcripts,
    approvals: Approvals,
    agents: IAgents,
    own_ports: Callable[[], Sequence[int]],
) -> list[Feature[Any]]:
    """Features that nothing but each other leans on."""
    accounts = access.accounts
    identity = owners(ground, accounts)
    git = build_git(ground, sessions=sessions, containers=cases.container_folders)
    return [
        git,
        build_case_git(ground, git=git.service, cases=cases),
        build_mind(
            ground,
            sessions=sessions,
            clis=clis,
            accounts=accounts,
            transcripts=transcripts,
            approvals=approvals,
            git=git.service,
        ),
        build_restore(
            ground,
            recollection=recollection,
            sessions=sessions,
            clis=clis,
            conversations=conversations,
            identity=identity,
            folder=cases.folder,
        ),
        build_files(ground, sessions=sessions, clis=clis, audit=audit, words=access.capabilities),
        build_webhooks(ground, sessions=sessions),
        build_push(ground, sessions=sessions, accounts=accounts),
        build_doctor(ground, clis=clis),
        build_mcp(ground, clis=clis),
        build_webviews(ground, access=access, own_ports=own_ports),
        build_timed_runs(
            ground, sessions=sessions, agents=agents, accounts=accounts, identity=identity
        ),
    ]


def last_words(clock: IReactorTime) -> Closing:
    """One turn of the reactor, in which what was just written leaves for those who read."""
    return Closing("last words", lambda: deferLater(clock, 0))


def api_url_of(ground: Ground, listener: Late[Listener]) -> Callable[[], str]:
    """Where panes reach the service, once it listens."""
    config = ground.config
    return lambda: config.api_url or listener().local_url(config.base_path) or ""


def give_up(reactor: Any) -> None:
    """End the program with exit status 1: C{twistd} itself reports success after any stop."""
    atexit.register(os._exit, 1)
    reactor.stop()
