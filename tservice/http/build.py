"""Assembly of the HTTP server from the operations of all features."""

from __future__ import annotations

from functools import partial

from twisted.logger import globalLogPublisher

from tservice import __version__
from tservice.client.mcp.build import build_mcp_server
from tservice.core.logs.lines import FaultCount
from tservice.ground.feature import Contents, Feature
from tservice.ground.ground import Ground
from tservice.http.connections.room import claim_room, kept_back
from tservice.http.docs.page import ApiDocs
from tservice.http.inner import InnerCalls
from tservice.http.kernel import Heard, IGate, Kernel
from tservice.http.metrics import Measure, Metrics, Values, number
from tservice.http.parked import ParkedCalls
from tservice.http.site import Site
from tservice.http.static import Pages
from tservice.http.transfer.large import LargeAnswers
from tservice.http.websockets.upgrade import WebSockets


def build_sockets(ground: Ground) -> Feature[WebSockets]:
    """Build the WebSocket handling for all routes."""
    sockets = WebSockets(ground.reactor)

    def traffic() -> Values:
        return {("in",): sockets.traffic.received, ("out",): sockets.traffic.sent}

    return Feature(
        name="WebSocket counts",
        service=sockets,
        measures=[
            number("websockets", "WebSockets open.", lambda: sockets.count),
            Measure("websocket_bytes", "Bytes of WebSockets.", traffic, ("direction",), grows=True),
        ],
    )


def build_faults() -> Feature[FaultCount]:
    """Build the counter of logged errors, which runs until the stop."""
    faults = FaultCount()
    globalLogPublisher.addObserver(faults)
    count = Measure("logged_errors", "Errors in the log.", lambda: {(): faults.count}, grows=True)
    return Feature(
        name="fault count",
        service=faults,
        measures=[count],
        close=partial(globalLogPublisher.removeObserver, faults),
    )


def build_site(
    ground: Ground,
    contents: Contents,
    *,
    gate: IGate,
    pages: Pages,
    sockets: WebSockets,
    parked: ParkedCalls,
    heard: Heard,
) -> Site:
    """Build the server for all features registered before, with its metrics and API document.

    @param heard: called with each call and its outcome.
    """
    large = LargeAnswers()
    inner = InnerCalls(gate, parked, large, heard)
    contents.add(build_mcp_server(ground, inner))
    metrics = Metrics()
    for measure in contents.measures:
        metrics.measure(measure)
    docs = ApiDocs(__version__, ground.doors.files, ground.config.base_path)
    table = [*contents.operations, *metrics.operations(), *docs.operations()]
    docs.cover(table)
    base = ground.config.base_path
    kernel = Kernel(table, gate, pages, sockets, base, heard, parked, contents.strays, large)
    inner.table.bind_value(kernel.table)
    config = ground.config
    kept = kept_back(config.max_sessions, tabs_listener=bool(config.webview_listen))
    room = claim_room(kept)
    return Site(
        kernel, ground.reactor, metrics.answered, room, config.http2, shared=config.multiuser
    )
