"""How everything is put together."""

from __future__ import annotations

import atexit
import os
import resource
import secrets
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from twisted.internet.task import deferLater
from twisted.logger import globalLogPublisher

from tservice import __version__
from tservice.agents.hooks.telemetry_model import plan_usage_json
from tservice.agents.inbox_build import local_zone
from tservice.clis.routes import CliRoutes
from tservice.core.identity import Identity
from tservice.core.logs.lines import FaultCount
from tservice.core.net.listening import Listener
from tservice.core.stack import Closing, ServiceStack
from tservice.core.zone import zone_name
from tservice.http.docs.page import ApiDocs
from tservice.http.kernel import Kernel
from tservice.http.metrics import Metrics, Values
from tservice.http.operations import Operation
from tservice.http.parked import ParkedCalls
from tservice.http.site import Site, room_for_connections
from tservice.http.sse import EventStreams
from tservice.http.static import Pages
from tservice.http.websockets.upgrade import WebSockets
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.sessions.output.feed import TerminalFeed
from tservice.settings.routes import SettingsRoutes
from tservice.settings.service import SettingsService
from tservice.status.routes import StatusRoutes
from tservice.status.service import Sources, StatusService
from tservice.tap.access import Ground, wire_access
from tservice.tap.audit import wire_audit
from tservice.tap.base import Base
from tservice.tap.features import wire_features
from tservice.tap.ground import open_database, wire_clis, wire_doors, wire_mux, wire_reach
from tservice.tap.root import Startup
from tservice.tap.sessions import Outside, Sessions, wire_sessions
from tservice.tap.tunnel import tunnel_status, wire_tunnel
from tservice.tunnel.service import Tunnel


def assemble(base: Base, stack: ServiceStack) -> None:
    """Put everything together, bottom up; each service starts as it joins C{stack}."""
    database = open_database(base, stack)
    doors = wire_doors(base, stack)
    audit = wire_audit(base, database, stack)
    settings = SettingsService(base.config.data_dir / "settings.json", base.hub, base.config)
    settings.load()
    outside = Outside(base=base, doors=doors, reach=wire_reach(base, doors))
    clis = wire_clis(base, settings, outside.reach, stack)
    mux = wire_mux(base, stack)
    sessions = wire_sessions(
        outside, database, settings, clis, mux, lambda: listener, stack, audit.routes.typed
    )
    tunnel = wire_tunnel(base, settings, lambda: listener, stack)
    sockets = WebSockets(base.reactor)
    status = wire_status(base, sessions, tunnel, lambda caller: features.cron_jobs(caller))
    streams = wire_streams(base, sessions, status, stack)
    parked = ParkedCalls()
    pages = Pages(Path(__file__).parents[1] / "static")
    ground = Ground(
        base=base,
        database=database,
        doors=doors,
        reach=outside.reach,
        audit=audit.log,
        sessions=sessions.service,
        sockets=sockets,
        streams=streams,
        parked=parked,
        pages=pages,
        tunnel=tunnel,
    )
    access = wire_access(ground, stack)
    features = wire_features(ground, access.accounts, settings, clis, sessions.agents.agents, stack)
    metrics = wire_metrics(sessions, sockets, streams, tunnel, mux, stack)
    features.measure(metrics)
    operations = documented(
        access.operations,
        audit.routes.operations(),
        sessions.operations,
        SettingsRoutes(settings).operations(),
        CliRoutes(clis.service).operations(),
        StatusRoutes(status.describe).operations(),
        streams.operations(),
        metrics.operations(),
        features.operations,
    )
    base_path, heard = base.config.base_path, audit.routes.heard
    kernel = Kernel(operations, access.gate, pages, sockets, base_path, heard, parked)
    site = make_site(base, kernel, metrics)
    listener = Listener(base.reactor, base.addresses, site)

    async def take_up() -> None:
        await sessions.open()
        features.start()

    startup = Startup(base, take_up, listener, lambda: give_up(base.reactor))
    # One turn of the reactor, in which what was just written leaves for those who read.
    last_words = Closing("last words", lambda: deferLater(base.reactor, 0))
    for service in (sockets, last_words, streams, listener, startup):
        service.setServiceParent(stack)


def wire_status(
    base: Base, sessions: Sessions, tunnel: Tunnel, cron_jobs: Callable[[Identity], int]
) -> StatusService:
    """The state that a client starts from."""
    sources = Sources(
        cron_jobs=cron_jobs,
        approvals=sessions.asked.approvals.known,
        plan_usage=partial(plan_usage_of, sessions),
        time_zone=partial(zone_name, local_zone(base.environ)),
        tunnel=partial(tunnel_status, tunnel),
    )
    return StatusService(
        base.reactor, __version__, sessions.service, base.config.multiuser, sources
    )


def plan_usage_of(sessions: Sessions, caller: Identity) -> dict[str, Any] | None:
    """The plan of the service's own user, told to those whose agents run on it."""
    usage = sessions.agents.agents.plan_usage() if caller.os_user is None else None
    return plan_usage_json(usage)


def wire_streams(
    base: Base, sessions: Sessions, status: StatusService, stack: ServiceStack
) -> EventStreams:
    """The event stream, and the terminals' output for those of its clients that want it."""
    streams = EventStreams(base.hub, base.reactor, secrets.token_hex(4), status.describe)
    feed = TerminalFeed(
        base.reactor,
        base.hub,
        sessions.service.pane_of,
        sessions.service.owner_of,
        streams.wants_terminal,
    )
    Closing("terminal feed", feed.close).setServiceParent(stack)
    return streams


def documented(*groups: Iterable[Operation]) -> list[Operation]:
    """All operations, and the routes of their own description."""
    docs = ApiDocs(__version__)
    every = [*chain.from_iterable(groups), *docs.operations()]
    docs.cover(every)
    return every


def wire_metrics(
    sessions: Sessions,
    sockets: WebSockets,
    streams: EventStreams,
    tunnel: Tunnel,
    mux: TmuxMultiplexer,
    stack: ServiceStack,
) -> Metrics:
    """What C{GET /metrics} tells beside the requests."""
    metrics = Metrics()

    def session_counts() -> Values:
        counts = sessions.service.counts()
        return {(mode, status.value): number for mode, status, number in counts}

    def socket_bytes() -> Values:
        return {("in",): sockets.traffic.received, ("out",): sockets.traffic.sent}

    metrics.gauge("sessions", "Sessions there are.", session_counts, ["mode", "status"])
    metrics.count("websockets", "WebSockets open.", lambda: sockets.count)
    metrics.counter("websocket_bytes", "Bytes of WebSockets.", socket_bytes, ["direction"])
    metrics.count("event_streams", "Clients of the event stream.", lambda: streams.count)
    metrics.count("parked_waits", "Waits held open.", sessions.waiting.parked)
    metrics.counter("output_bytes", "Output of panes.", lambda: {(): mux.output_bytes})
    metrics.counter("logged_errors", "Errors in the log.", count_faults(stack))
    metrics.count("tunnel_up", "Whether the tunnel is up.", lambda: len(tunnel.hosts()))
    return metrics


def count_faults(stack: ServiceStack) -> Callable[[], Values]:
    """How many errors were logged, counted until C{stack} is stopped."""
    faults = FaultCount()
    globalLogPublisher.addObserver(faults)
    end = partial(globalLogPublisher.removeObserver, faults)
    Closing("fault count", end).setServiceParent(stack)
    return lambda: {(): faults.count}


def make_site(base: Base, kernel: Kernel, metrics: Metrics) -> Site:
    """The HTTP server, with as many connections as this process has descriptors for."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = room_for_connections(files, base.config.max_sessions)
    return Site(kernel, base.reactor, metrics.answered, room, base.config.http2)


def give_up(reactor: Any) -> None:
    """End the program with exit status 1: C{twistd} itself reports success after any stop."""
    atexit.register(os._exit, 1)
    reactor.stop()
