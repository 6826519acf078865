"""Assembly of the initial state, and of the event stream that begins with it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial

from tservice import __version__
from tservice.http.event_stream import EventStreams
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration, GetFeatureState
from tservice.runtime.runtime import Runtime
from tservice.sessions.output.terminal_feed import TerminalFeed
from tservice.sessions.service import SessionService
from tservice.status.installed_version import find_newer_installed
from tservice.status.routes import StatusRoutes
from tservice.status.service import StatusService


def build_event_streams(
    ground: Runtime, *, sessions: SessionService, tells: Mapping[str, GetFeatureState]
) -> FeatureRegistration[EventStreams]:
    """Build the routes for the initial state and the event stream.

    Clients that want terminal output get it in the event stream.

    @param tells: functions that return the features' parts of the state, by the name of the field.
        Features that are registered later are included.
    """
    status = StatusService(
        ground.reactor, __version__, sessions, ground.config.multiuser, tells, ground.time_zone,
        partial(find_newer_installed, __version__),
    )  # fmt: skip
    streams = EventStreams(ground.hub, ground.reactor, secrets.token_hex(4), status.describe_state)
    feed = TerminalFeed(
        ground.reactor,
        ground.hub,
        sessions.get_pane,
        sessions.get_owner,
        streams.wants_terminal,
    )
    return FeatureRegistration(
        name="terminal feed",
        service=streams,
        operations=[
            *collect_operations(StatusRoutes(status.describe_state)),
            *collect_operations(streams),
        ],
        measures=[
            make_gauge(
                "event_streams", "Clients of the event stream.", lambda: streams.client_count
            )
        ],
        close=feed.close,
    )
