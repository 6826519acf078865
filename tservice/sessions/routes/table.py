"""Operations table of the sessions, without the terminal's WebSocket."""

from __future__ import annotations

from tservice.http.operations import Operation
from tservice.sessions.routes.input import InputRoutes
from tservice.sessions.routes.life import LifeRoutes
from tservice.sessions.routes.properties import PropertyRoutes
from tservice.sessions.routes.terminal import TerminalRoutes
from tservice.sessions.service import SessionService
from tservice.sessions.waits.routes import WaitRoutes
from tservice.sessions.waits.service import Waiting


def session_operations(sessions: SessionService, waiting: Waiting) -> list[Operation]:
    """Return the operations of protocol-sessions, protocol-terminal and protocol-waits."""
    return [
        *LifeRoutes(sessions).operations(),
        *PropertyRoutes(sessions).operations(),
        *TerminalRoutes(sessions).operations(),
        *InputRoutes(sessions, waiting).operations(),
        *WaitRoutes(waiting).operations(),
    ]
