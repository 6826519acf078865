"""How everything is put together."""

from __future__ import annotations

import atexit
import os
import secrets
from pathlib import Path
from typing import Any

from tservice import __version__
from tservice.clis.routes import CliRoutes
from tservice.core.listening import Listener
from tservice.core.stack import ServiceStack
from tservice.http.kernel import Kernel
from tservice.http.site import Site
from tservice.http.sse import EventStreams
from tservice.http.static import Pages
from tservice.http.websocket import WebSockets
from tservice.settings.routes import SettingsRoutes
from tservice.settings.service import SettingsService
from tservice.status.routes import StatusRoutes
from tservice.status.service import Sources, StatusService
from tservice.tap.access import wire_access
from tservice.tap.base import Base
from tservice.tap.ground import open_database, wire_clis, wire_mux
from tservice.tap.root import Startup
from tservice.tap.sessions import wire_sessions


def assemble(base: Base, stack: ServiceStack) -> None:
    """Put everything together, bottom up; each service starts as it joins C{stack}."""
    database = open_database(base, stack)
    settings = SettingsService(base.config.data_dir / "settings.json", base.hub, base.config)
    settings.load()
    clis = wire_clis(base, settings, stack)
    mux = wire_mux(base, stack)
    sessions = wire_sessions(base, database, settings, clis, mux, lambda: listener, stack)
    sockets = WebSockets(base.reactor)
    status = StatusService(
        base.reactor, __version__, sessions.service, base.config.multiuser, Sources()
    )
    streams = EventStreams(base.hub, base.reactor, secrets.token_hex(4), status.describe)
    pages = Pages(Path(__file__).parents[1] / "static")
    access = wire_access(base, database, sessions.service, sockets, streams, pages)
    operations = [
        *access.operations,
        *sessions.operations,
        *SettingsRoutes(settings).operations(),
        *CliRoutes(clis.service).operations(),
        *StatusRoutes(status).operations(),
        *streams.operations(),
    ]
    kernel = Kernel(operations, access.gate, pages, sockets, base.config.base_path)
    listener = Listener(base.reactor, base.addresses, Site(kernel, base.reactor))
    startup = Startup(base, sessions.service.open, listener, lambda: give_up(base.reactor))
    for service in (sockets, streams, listener, startup):
        service.setServiceParent(stack)


def give_up(reactor: Any) -> None:
    """End the program with exit status 1: C{twistd} itself reports success after any stop."""
    atexit.register(os._exit, 1)
    reactor.stop()
