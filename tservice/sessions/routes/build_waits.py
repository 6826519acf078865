"""Builds the waits, the terminal sockets and all session routes."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from tservice.clis.interfaces import ICliRegistry
from tservice.core.kernel.event_payloads import HostDroppedPayload
from tservice.core.kernel.events import Event, EventName
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.output.terminal_sockets import TerminalSockets, make_link_frame
from tservice.sessions.routes.operations import session_operations
from tservice.sessions.routes.socket_routes import SocketRoutes, TypedCallback
from tservice.sessions.service import SessionService
from tservice.sessions.waits.output_waits import ParkedOutputWaits
from tservice.sessions.waits.service import WaitService
from tservice.sessions.waits.signal_waits import WaitCaps, WaitSlots


def build_waits(
    ground: Runtime,
    *,
    sessions: SessionService,
    clis: ICliRegistry,
    blocked: Callable[[str], bool],
    checked: Callable[[str], bool],
    typed: TypedCallback,
) -> FeatureRegistration[WaitService]:
    """Build the waits and the terminal sockets. Stopping the feature ends both.

    @param blocked: returns true if a session's agent waits for an answer.
    @param checked: returns true if the checks of a session have a result that still holds.
    @param typed: called with the input typed over a socket.
    """
    config = ground.config
    slots = WaitSlots(
        WaitCaps(
            per_session=config.wait_max_per_session,
            total=config.wait_max_total,
            per_owner=config.wait_max_per_owner,
        )
    )
    outputs = ParkedOutputWaits(ground.reactor, slots)
    waiting = WaitService(
        ground.reactor, sessions, slots, outputs, ground.hub, blocked, clis.gives_signals, checked
    )
    terminals = TerminalSockets(
        ground.reactor, sessions.get_pane, outputs.has_wait, sessions.find_outage
    )
    unsubscribe = ground.hub.subscribe(make_pane_follower(terminals))
    routes = SocketRoutes(sessions, terminals, lambda: secrets.token_hex(8), typed)

    def close_waits() -> None:
        unsubscribe()
        waiting.stop()

    return FeatureRegistration(
        name="waits",
        service=waiting,
        operations=[*session_operations(sessions, waiting), *collect_operations(routes)],
        measures=[make_gauge("parked_waits", "Parked waits.", waiting.count_parked)],
        close=close_waits,
    )


_OF_THE_WAY = (
    EventName.REMOTE_SESSION_DROPPED,
    EventName.REMOTE_SESSION_RECONNECTED,
    EventName.REMOTE_RECONNECT_EXHAUSTED,
)


def make_pane_follower(terminals: TerminalSockets) -> Callable[[Event], None]:
    """Return an event listener that updates the terminal sockets of a session.

    The sockets learn about a new pane, its end, and the loss and return of its host.
    """

    def handle_event(event: Event) -> None:
        if event.session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            terminals.close_sockets_of_session(event.session_id)
        elif event.name in _OF_THE_WAY:
            next_at = (
                event.payload.next_at if isinstance(event.payload, HostDroppedPayload) else None
            )
            up = event.name is EventName.REMOTE_SESSION_RECONNECTED
            terminals.broadcast_frame(event.session_id, make_link_frame(up=up, next_at=next_at))
        else:
            terminals.switch_pane_if_changed(event.session_id)

    return handle_event
