"""Response models of the session operations, for the OpenAPI document (protocol-sessions)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tservice.core.payload import omit_if_false, omit_if_none
from tservice.http.models import ResponseModel
from tservice.sessions.record.model import SessionColour, SessionStatus
from tservice.sessions.record.wire import SessionAnswer


class SessionEnvelope(ResponseModel):
    """A session, wrapped."""

    session: SessionAnswer
    warnings: list[str] | None = omit_if_none(
        description="What a new worktree lacks, in sentences; left out without one that does"
    )


class LeftoverProcessResponse(ResponseModel):
    """A process that outlives its session; C{command} is one line, untrusted and perhaps cut."""

    pid: int
    command: str


class DeletedSessionResponse(ResponseModel):
    """A session was removed, and what is left of it; absent where nothing is."""

    left: list[LeftoverProcessResponse] | None = omit_if_none()


class DeletedSessionsResponse(DeletedSessionResponse):
    """How many sessions were removed, and what is left of them."""

    killed: int


class SessionNameResponse(ResponseModel):
    """The name that holds now."""

    name: str


class SessionColourResponse(ResponseModel):
    """The colour that holds now."""

    color: SessionColour


class SessionPinResponse(ResponseModel):
    """Whether it is pinned."""

    pinned: bool


class FlickerFilterResponse(ResponseModel):
    """Whether the flicker filter is on."""

    flicker_filter: bool


class SessionOrderResponse(ResponseModel):
    """Every session that the caller sees, in order."""

    order: list[str]


class TerminalSizeResponse(ResponseModel):
    """The size that holds now."""

    cols: int
    rows: int


class DeliveryResponse(ResponseModel):
    """What became of an input."""

    delivered: bool
    duplicate: bool = omit_if_false()
    opened: str | None = omit_if_none()
    put_aside: bool = omit_if_false()


class BufferedInputResponse(ResponseModel):
    """The session's host is away: the input is typed once that is back, unless there was no room
    for it (C{dropped})."""

    buffered: Literal[True] = True
    dropped: bool = omit_if_false()


class QuickStartResponse(ResponseModel):
    """The session that was started, and where."""

    session_id: str
    case_name: str
    case_path: str
    warnings: list[str] | None = omit_if_none(
        description="What a new worktree lacks, in sentences; left out without one that does"
    )


class CursorResponse(ResponseModel):
    """Where the caret is, counted from 0."""

    x: int
    y: int


class TerminalResponse(ResponseModel):
    """A terminal read (protocol-terminal); without a process empty, C{offset} 0 and C{epoch}
    null.  C{stale}: the host is out of reach, and this is what was there at C{staleAt}."""

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
    """One occurrence: 0-based line of the history, and offset in it.

    C{start}: of a long line, where in it C{text} begins.
    """

    line: int
    text: str
    offset: int
    start: int | None = omit_if_none()


class TerminalSearchResponse(ResponseModel):
    """Occurrences, oldest first; C{truncated}: there are more."""

    matches: list[SearchMatchResponse]
    truncated: bool
