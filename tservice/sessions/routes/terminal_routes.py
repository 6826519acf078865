"""HTTP operations that type into sessions and read their terminals (protocol-keys, protocol-input,
protocol-terminal).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import READS_SESSIONS, TYPES
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, RawReply, Scope
from tservice.http.validation.models import QueryParameters, RequestBody
from tservice.sessions.output.reading import BUFFER_BOUND
from tservice.sessions.record.viewport import SizeRequest, ViewportKind
from tservice.sessions.routes.lifecycle_routes import Cols, Rows
from tservice.sessions.routes.responses import (
    TerminalResponse,
    TerminalSearchResponse,
    TerminalSizeResponse,
)
from tservice.sessions.service import SessionService

MATCHES = 200
"""Maximum matches of one search."""


class KeyBody(RequestBody):
    """Named key to press."""

    key: Annotated[str, StringConstraints(max_length=16)]


class ResizeBody(RequestBody):
    """Size, and the kind of screen that requests it."""

    cols: Cols
    rows: Rows
    viewport_type: Annotated[ViewportKind, Field(strict=False)] | None = None
    force: bool | None = None


class TerminalQuery(QueryParameters):
    """Query parameters of a terminal read. C{lines} that is no positive integer means the history
    limit.
    """

    full: bool = False
    tail: Annotated[int, Field(ge=1, le=BUFFER_BOUND)] | None = None
    lines: str | None = None


class SearchQuery(QueryParameters):
    """Query parameters of a search for a literal; C{limit} is clamped to 1 to 200."""

    q: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    limit: int = MATCHES
    nocase: bool = False


_READS = OperationFields(
    tag="Terminal",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_READ,
    scope_reason=READS_SESSIONS,
    errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED),
)


class TerminalRoutes:
    """HTTP operations on keys, size and text of a terminal."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    @operation(
        "POST",
        "/api/sessions/{id}/send-key",
        tag="Terminal",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_INPUT,
        scope_reason=TYPES,
        audit=AuditMode.SUMMED,
        errors=(
            ErrorCode.INVALID_INPUT,
            ErrorCode.CONFLICT,
            ErrorCode.OPERATION_FAILED,
            ErrorCode.RATE_LIMITED,
        ),
    )
    async def send_key(self, call: OperationCall, body: KeyBody) -> EmptyPayload:
        """Press a named key."""
        await self._sessions.send_key(call.id, body.key, call.caller)
        return EmptyPayload()

    @operation(
        "POST",
        "/api/sessions/{id}/resize",
        tag="Terminal",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_INPUT,
        scope_reason="The size is set by the client that types.",
        audit=AuditMode.NONE,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
    )
    async def resize_terminal(self, call: OperationCall, body: ResizeBody) -> TerminalSizeResponse:
        """Request a size; returns the effective size."""
        wish = SizeRequest(
            cols=body.cols, rows=body.rows, viewport=body.viewport_type, force=bool(body.force)
        )
        cols, rows = await self._sessions.resize_pane(call.id, wish)
        return TerminalSizeResponse(cols=cols, rows=rows)

    @operation(
        "GET",
        "/api/sessions/{id}/terminal",
        _READS,
        response_model=TerminalResponse,
        large=lambda query: bool(query.full),
    )
    async def read_terminal(self, call: OperationCall, query: TerminalQuery) -> RawReply:
        """Read the screen, or with full=1 also the history."""
        reading = await self._sessions.read_screen(
            call.id, full=query.full, lines=query.lines, tail=query.tail
        )
        timing = f"capture;dur={reading.capture_ms:.1f}, render;dur={reading.render_ms:.1f}"
        answer = TerminalResponse.model_validate(reading.data)
        return RawReply(content=answer, headers={"Server-Timing": timing})

    @operation("GET", "/api/sessions/{id}/search", _READS, large=lambda query: True)
    async def search_terminal(
        self, call: OperationCall, query: SearchQuery
    ) -> TerminalSearchResponse:
        """Search the pane's history for a literal text."""
        limit = max(1, min(query.limit, MATCHES))
        found = await self._sessions.search_history(call.id, query.q, limit, nocase=query.nocase)
        return TerminalSearchResponse.model_validate(found)
