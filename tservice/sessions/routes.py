"""Every operation of the sessions, but the terminal's WebSocket."""

from __future__ import annotations

from tservice.http.operations import Operation
from tservice.sessions.input_routes import InputRoutes
from tservice.sessions.life_routes import LifeRoutes
from tservice.sessions.property_routes import PropertyRoutes
from tservice.sessions.service import SessionService
from tservice.sessions.terminal_routes import TerminalRoutes
from tservice.sessions.wait_routes import WaitRoutes
from tservice.sessions.waiting import Waiting


def session_operations(sessions: SessionService, waiting: Waiting) -> list[Operation]:
    """The operations of wire 1.3 to 1.6 and 7."""
    return [
        *LifeRoutes(sessions).operations(),
        *PropertyRoutes(sessions).operations(),
        *TerminalRoutes(sessions).operations(),
        *InputRoutes(sessions, waiting).operations(),
        *WaitRoutes(waiting).operations(),
    ]
