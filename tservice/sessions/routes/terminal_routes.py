"""HTTP operations that type into sessions and read their terminals (protocol-keys, protocol-input,
protocol-terminal).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.http.models import QueryParameters, RequestBody
from tservice.http.operations import (
    AccessRule,
    AuditMode,
    Operation,
    OperationCall,
    RawReply,
    Scope,
)
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

_TYPING_ERRORS = (
    ErrorCode.INVALID_INPUT,
    ErrorCode.CONFLICT,
    ErrorCode.OPERATION_FAILED,
    ErrorCode.RATE_LIMITED,
)

_READING_ERRORS = (
    ErrorCode.INVALID_INPUT,
    ErrorCode.OPERATION_FAILED,
    ErrorCode.RATE_LIMITED,
)


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


class TerminalRoutes:
    """HTTP operations on keys, size and text of a terminal."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    def operations(self) -> list[Operation]:
        """Return the HTTP operations on terminals."""
        return [*self._write_operations(), *self._read_operations()]

    def _write_operations(self) -> list[Operation]:
        return [
            Operation(
                method="POST",
                path="/api/sessions/{id}/send-key",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                audit=AuditMode.SUMMED,
                handler=self.send_key,
                summary="Press a named key",
                tag="Terminal",
                body=KeyBody,
                response_model=EmptyPayload,
                errors=_TYPING_ERRORS,
            ),
            Operation(
                method="POST",
                path="/api/sessions/{id}/resize",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                audit=AuditMode.NONE,
                handler=self.resize_terminal,
                summary="Request a size; returns the effective size",
                tag="Terminal",
                body=ResizeBody,
                response_model=TerminalSizeResponse,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
            ),
        ]

    def _read_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/terminal",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.read_terminal,
                summary="Read the screen, or with full=1 also the history",
                tag="Terminal",
                query=TerminalQuery,
                large=lambda query: bool(query.full),
                response_model=TerminalResponse,
                errors=_READING_ERRORS,
            ),
            Operation(
                method="GET",
                path="/api/sessions/{id}/search",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.search_terminal,
                summary="Search the pane's history for a literal text",
                tag="Terminal",
                query=SearchQuery,
                large=lambda query: True,
                response_model=TerminalSearchResponse,
                errors=_READING_ERRORS,
            ),
        ]

    async def send_key(self, call: OperationCall) -> object:
        """Press a named key in the session's terminal."""
        await self._sessions.send_key(call.id, call.body.key, call.identity)
        return EmptyPayload()

    async def resize_terminal(self, call: OperationCall) -> object:
        """Request a size for the session's terminal."""
        body = call.body
        wish = SizeRequest(
            cols=body.cols, rows=body.rows, viewport=body.viewport_type, force=bool(body.force)
        )
        cols, rows = await self._sessions.resize_pane(call.id, wish)
        return TerminalSizeResponse(cols=cols, rows=rows)

    async def read_terminal(self, call: OperationCall) -> object:
        """Read the text of the session's terminal."""
        query: TerminalQuery = call.query
        reading = await self._sessions.read_screen(
            call.id, full=query.full, lines=query.lines, tail=query.tail
        )
        timing = f"capture;dur={reading.capture_ms:.1f}, render;dur={reading.render_ms:.1f}"
        answer = TerminalResponse.model_validate(reading.data)
        return RawReply(content=answer, headers={"Server-Timing": timing})

    async def search_terminal(self, call: OperationCall) -> object:
        """Search the history and the screen of the session's terminal."""
        query: SearchQuery = call.query
        limit = max(1, min(query.limit, MATCHES))
        found = await self._sessions.search_history(call.id, query.q, limit, nocase=query.nocase)
        return TerminalSearchResponse.model_validate(found)
