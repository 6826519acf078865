"""Routes C{GET /healthz} and C{GET /api/status} (protocol-state; protocol-metrics)."""

from __future__ import annotations

from typing import Literal

from tservice.http.event_stream import GetInitialState
from tservice.http.models import ResponseModel
from tservice.http.operations import (
    AccessRule,
    Operation,
    OperationCall,
    RawReply,
    ResponseStyle,
    Scope,
)
from tservice.status.service import StatusResponse


class HealthResponse(ResponseModel):
    """Sign that the process responds. Unauthenticated callers get no other information."""

    ok: Literal[True] = True


class StatusRoutes:
    """Routes for a supervisor's health check, and for the initial state of a client."""

    def __init__(self, status: GetInitialState) -> None:
        """@param status: returns the L{StatusResponse} for a caller."""
        self._status = status

    async def serve_health(self, call: OperationCall) -> object:
        """Return C{{"ok": true}}, without further information."""
        return RawReply(content=HealthResponse(), headers={"Cache-Control": "no-store"})

    async def serve_status(self, call: OperationCall) -> object:
        """Return the initial state, limited to the data that the caller may see."""
        return self._status(call.identity)

    def list_operations(self) -> list[Operation]:
        """Return the routes for the operations table."""
        return [
            Operation(
                method="GET",
                path="/healthz",
                access=AccessRule.PUBLIC,
                handler=self.serve_health,
                summary="Check that the service responds",
                tag="Diagnostics",
                response_model=HealthResponse,
                style=ResponseStyle.RAW,
            ),
            Operation(
                method="GET",
                path="/api/status",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_READ,
                handler=self.serve_status,
                summary="Get the initial state of a client",
                tag="Events",
                response_model=StatusResponse,
            ),
        ]
