"""Response models of the session operations, for the OpenAPI document (protocol-sessions)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tservice.core.values.payload import omit_if_false, omit_if_none
from tservice.http.validation.models import ResponseModel
from tservice.sessions.record.model import SessionColour, SessionStatus
from tservice.sessions.record.wire import SessionAnswer


class SessionEnvelope(ResponseModel):
    """Response with a session."""

    session: SessionAnswer
    warnings: list[str] | None = omit_if_none(
        description="Parts that a new worktree lacks, as sentences; absent if there are none"
    )


class LeftoverProcessResponse(ResponseModel):
    """Process that outlives its session. C{command} is one line, untrusted and possibly cut."""

    pid: int
    command: str


class DeletedSessionResponse(ResponseModel):
    """Result of a removal: the processes that remain. Absent if there are none."""

    left: list[LeftoverProcessResponse] | None = omit_if_none()


class DeletedSessionsResponse(DeletedSessionResponse):
    """Number of sessions that were removed, and the processes that remain."""

    killed: int


class SessionNameResponse(ResponseModel):
    """Current name of the session."""

    name: str


class SessionColourResponse(ResponseModel):
    """Current colour of the session."""

    color: SessionColour


class SessionPinResponse(ResponseModel):
    """Current pinned state."""

    pinned: bool


class FlickerFilterResponse(ResponseModel):
    """Current state of the flicker filter."""

    flicker_filter: bool


class SessionOrderResponse(ResponseModel):
    """List of every session that the caller may see, in order."""

    order: list[str]


class TerminalSizeResponse(ResponseModel):
    """Current size."""

    cols: int
    rows: int


class DeliveryResponse(ResponseModel):
    """Result of an input."""

    delivered: bool
    duplicate: bool = omit_if_false()
    opened: str | None = omit_if_none()
    put_aside: bool = omit_if_false()


class BufferedInputResponse(ResponseModel):
    """Input stored while the session's host is unreachable. It is typed once the host is back,
    unless there was no room (C{dropped}).
    """

    buffered: Literal[True] = True
    dropped: bool = omit_if_false()


class QuickStartResponse(ResponseModel):
    """Session that was started, and its case."""

    session_id: str
    case_name: str
    case_path: str
    warnings: list[str] | None = omit_if_none(
        description="Parts that a new worktree lacks, as sentences; absent if there are none"
    )


class CursorResponse(ResponseModel):
    """Position of the caret, counted from 0."""

    x: int
    y: int


class TerminalResponse(ResponseModel):
    """Text of a terminal (protocol-terminal).

    Without a process it is empty, C{offset} is 0 and C{epoch} is null. C{stale}: the host is
    unreachable, and the text is from the time C{staleAt}.
    """

    terminal_buffer: str
    status: SessionStatus
    source: str = Field(pattern="^(visible|full-history)$")
    capture_cols: int
    capture_rows: int
    cursor: CursorResponse
    alternate_screen: bool
    full_size: int
    truncated: bool
    truncation_reason: str | None = Field(pattern="^(tail|capped)$")
    offset: int
    epoch: str | None
    stale: bool = omit_if_false()
    stale_at: int | None = omit_if_none()


class SearchMatchResponse(ResponseModel):
    """Match of a search: 0-based line of the history, and offset in it.

    C{start}: the position in a long line at which C{text} begins.
    """

    line: int
    text: str
    offset: int
    start: int | None = omit_if_none()


class TerminalSearchResponse(ResponseModel):
    """Matches, oldest first; C{truncated}: there are more."""

    matches: list[SearchMatchResponse]
    truncated: bool
