"""The HTTP server, put together from the operations of all features."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from functools import partial

from twisted.logger import globalLogPublisher

from tservice import __version__
from tservice.core.logs.lines import FaultCount
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.docs.page import ApiDocs
from tservice.http.kernel import Kernel
from tservice.http.metrics import Measure, Metrics, Values, number
from tservice.http.operations import Operation
from tservice.http.site import Site, room_for_connections
from tservice.http.websockets.upgrade import WebSockets


def build_sockets(ground: Ground) -> Feature[WebSockets]:
    """WebSockets of any route."""
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
    """How many errors were logged, counted until the stop."""
    faults = FaultCount()
    globalLogPublisher.addObserver(faults)
    count = Measure("logged_errors", "Errors in the log.", lambda: {(): faults.count}, grows=True)
    return Feature(
        name="fault count",
        service=faults,
        measures=[count],
        close=partial(globalLogPublisher.removeObserver, faults),
    )


def build_metrics(measures: Sequence[Measure]) -> Feature[Metrics]:
    """C{GET /metrics}: the requests, and what the features count."""
    metrics = Metrics()
    for measure in measures:
        metrics.measure(measure)
    return Feature(name="metrics", service=metrics, operations=metrics.operations())


def documented(operations: Sequence[Operation]) -> list[Operation]:
    """All operations, and the routes of their own description."""
    docs = ApiDocs(__version__)
    every = [*operations, *docs.operations()]
    docs.cover(every)
    return every


def build_site(ground: Ground, kernel: Kernel, metrics: Metrics) -> Site:
    """The server, with as many connections as this process has descriptors for."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = room_for_connections(files, ground.config.max_sessions)
    return Site(kernel, ground.reactor, metrics.answered, room, ground.config.http2)
