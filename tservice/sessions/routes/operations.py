"""List of all HTTP operations of sessions, without the terminal's WebSocket."""

from __future__ import annotations

from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.sessions.routes.input_routes import InputRoutes
from tservice.sessions.routes.lifecycle_routes import LifecycleRoutes
from tservice.sessions.routes.property_routes import PropertyRoutes
from tservice.sessions.routes.terminal_routes import TerminalRoutes
from tservice.sessions.service import SessionService
from tservice.sessions.waits.service import WaitService
from tservice.sessions.waits.wait_routes import WaitRoutes


def session_operations(sessions: SessionService, waiting: WaitService) -> list[Operation]:
    """Return the HTTP operations of protocol-sessions, protocol-terminal and protocol-waits."""
    return [
        *collect_operations(LifecycleRoutes(sessions)),
        *collect_operations(PropertyRoutes(sessions)),
        *collect_operations(TerminalRoutes(sessions)),
        *collect_operations(InputRoutes(sessions, waiting)),
        *collect_operations(WaitRoutes(waiting)),
    ]
