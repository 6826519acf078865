"""Assembly of the HTTP server from the operations of all features."""

from __future__ import annotations

from functools import partial

from twisted.logger import globalLogPublisher

from tservice import __version__
from tservice.core.logs.lines import FaultCount
from tservice.http.connections.connection_limit import (
    count_reserved_descriptors,
    raise_descriptor_limit,
)
from tservice.http.docs.page import ApiDocs
from tservice.http.inner_calls import InnerCalls
from tservice.http.kernel import CallListener, HttpKernel, IGate
from tservice.http.metrics import MetricSource, MetricsRegistry, Values, make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.http.parked_calls import ParkedCalls
from tservice.http.site import HttpSite
from tservice.http.static_files import StaticPages
from tservice.http.transfer.large_responses import LargeResponses
from tservice.http.websockets.upgrade import WebSockets
from tservice.mcp_server.build import build_mcp_server
from tservice.runtime.feature import FeatureRegistration, FeatureRegistry
from tservice.runtime.runtime import Runtime


def build_sockets(ground: Runtime) -> FeatureRegistration[WebSockets]:
    """Build the WebSocket handling for all routes."""
    sockets = WebSockets(ground.reactor)

    def measure_traffic() -> Values:
        return {("in",): sockets.traffic.received, ("out",): sockets.traffic.sent}

    return FeatureRegistration(
        name="WebSocket counts",
        service=sockets,
        measures=[
            make_gauge("websockets", "Open WebSockets.", lambda: sockets.socket_count),
            MetricSource(
                "websocket_bytes",
                "Bytes sent and received on WebSockets.",
                measure_traffic,
                ("direction",),
                grows=True,
            ),
        ],
    )


def build_fault_counter() -> FeatureRegistration[FaultCount]:
    """Build the counter of logged errors, which counts until the service stops."""
    faults = FaultCount()
    globalLogPublisher.addObserver(faults)
    count = MetricSource("logged_errors", "Errors logged.", lambda: {(): faults.count}, grows=True)
    return FeatureRegistration(
        name="fault count",
        service=faults,
        measures=[count],
        close=partial(globalLogPublisher.removeObserver, faults),
    )


def build_site(
    ground: Runtime,
    contents: FeatureRegistry,
    *,
    gate: IGate,
    pages: StaticPages,
    sockets: WebSockets,
    parked: ParkedCalls,
    on_call: CallListener,
) -> HttpSite:
    """Build the HTTP server for all registered features, with metrics and the API document.

    @param ground: the services that the server depends on.
    @param contents: the registered features.
    @param on_call: called with each call and its outcome.
    """
    large = LargeResponses()
    inner = InnerCalls(gate, parked, large, on_call)
    contents.add_feature(build_mcp_server(ground, inner))
    metrics = MetricsRegistry()
    for measure in contents.measures:
        metrics.add_source(measure)
    docs = ApiDocs(__version__, ground.worker_pools.files, ground.config.base_path)
    table = [*contents.operations, *collect_operations(metrics), *collect_operations(docs)]
    docs.set_operations(table)
    base = ground.config.base_path
    kernel = HttpKernel(
        table, gate, pages, sockets, base, on_call, parked, contents.fallback_route, large
    )
    inner.table.bind_value(kernel.table)
    config = ground.config
    kept = count_reserved_descriptors(
        config.max_sessions, tabs_listener=bool(config.webview_listen)
    )
    room = raise_descriptor_limit(kept)
    return HttpSite(kernel, ground.reactor, metrics.count_response, room, shared=config.multiuser)
