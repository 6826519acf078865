"""Every operation of the sessions, but the terminal's WebSocket."""

from __future__ import annotations

from tservice.http.operations import Operation
from tservice.sessions.life_routes import LifeRoutes
from tservice.sessions.property_routes import PropertyRoutes
from tservice.sessions.service import SessionService
from tservice.sessions.terminal_routes import TerminalRoutes


def session_operations(sessions: SessionService) -> list[Operation]:
    """The operations of wire 1.3 to 1.6."""
    return [
        *LifeRoutes(sessions).operations(),
        *PropertyRoutes(sessions).operations(),
        *TerminalRoutes(sessions).operations(),
    ]
