"""Routes C{GET /healthz} and C{GET /api/status} (protocol-state; protocol-metrics)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tservice.core.callers.identity import Identity
from tservice.core.kernel.scopes import READS_SESSIONS
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, ResponseStyle, Scope
from tservice.http.validation.models import ResponseModel
from tservice.status.service import StatusResponse


class HealthResponse(ResponseModel):
    """Sign that the process responds. Unauthenticated callers get no other information."""

    ok: Literal[True] = True


class StatusRoutes:
    """Routes for a supervisor's health check, and for the initial state of a client."""

    def __init__(self, status: Callable[[Identity], StatusResponse]) -> None:
        """@param status: returns the L{StatusResponse} for a caller."""
        self._status = status

    @operation(
        "GET",
        "/healthz",
        tag="Diagnostics",
        access=AccessRule.PUBLIC,
        scope_reason="Anybody may call it. It reveals nothing.",
        style=ResponseStyle.RAW,
        response_model=HealthResponse,
    )
    async def serve_health(self, call: OperationCall) -> RawReply:
        """Check that the service responds."""
        return RawReply(content=HealthResponse(), headers={"Cache-Control": "no-store"})

    @operation(
        "GET",
        "/api/status",
        tag="Events",
        access=AccessRule.USER,
        scope=Scope.SESSIONS_READ,
        scope_reason=READS_SESSIONS,
    )
    async def serve_status(self, call: OperationCall) -> StatusResponse:
        """Get the initial state of a client."""
        return self._status(call.caller)
