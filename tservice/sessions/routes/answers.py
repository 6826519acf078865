"""Shapes of the answers about sessions, for the OpenAPI document (protocol-sessions)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tservice.http.models import Answer
from tservice.sessions.record.model import Colour, Location, ModelSource, NameSource, Status


class NiceAnswer(Answer):
    """Scheduling priority."""

    enabled: bool
    value: int


class AutoCompactAnswer(Answer):
    """Automatic C{/compact}."""

    enabled: bool
    threshold: int
    prompt: str | None = None


class AutoClearAnswer(Answer):
    """Automatic C{/clear}."""

    enabled: bool
    threshold: int


class AutoResumeAnswer(Answer):
    """Automatic resume after a usage limit."""

    enabled: bool
    resume_at: int | None = None


class TokensAnswer(Answer):
    """Tokens used so far."""

    input: int
    output: int
    total: int


class CustomModelAnswer(Answer):
    """The custom model in use."""

    endpoint_id: str
    model_id: str
    label: str | None = None


class ExitAnswer(Answer):
    """How the process ended; what is not known is left out."""

    status: int | None = None
    signal: str | None = None
    at: int


class RemoteAnswer(Answer):
    """The remote host's part."""

    host_id: str
    name: str
    owned: bool


class ContainerAnswer(Answer):
    """The container's part."""

    host_id: str
    name: str


class SessionAnswer(Answer):
    """A session (protocol-session)."""

    id: str
    pid: int | None
    status: Status
    mode: str
    name: str
    name_source: NameSource
    working_dir: str
    case_name: str | None = None
    created_at: int
    last_activity_at: int
    last_submit_at: int | None = None
    display_model: str | None
    display_model_source: ModelSource | None = None
    owner: str | None = None
    parent_session_id: str | None = None
    color: Colour
    pinned: bool
    pinned_at: int | None = None
    cols: int
    rows: int
    auto_compact: AutoCompactAnswer
    auto_clear: AutoClearAnswer
    auto_resume: AutoResumeAnswer
    limit_paused: bool
    nice: NiceAnswer
    flicker_filter: bool
    tokens: TokensAnswer
    total_cost: float
    context_used_percentage: float | None = None
    params: dict[str, Any]
    custom_model: CustomModelAnswer | None = None
    conversation_ids: list[str]
    pane_exit: ExitAnswer | None = None
    respawn_blocked: bool = False
    detached: bool = False
    location: Location
    remote: RemoteAnswer | None = None
    container: ContainerAnswer | None = None
    hooks_available: bool
    status_reason: str | None = None


class OneSession(Answer):
    """A session, wrapped."""

    session: SessionAnswer


class Killed(Answer):
    """How many sessions were removed."""

    killed: int


class NameAnswer(Answer):
    """The name that holds now."""

    name: str


class ColourAnswer(Answer):
    """The colour that holds now."""

    color: Colour


class PinAnswer(Answer):
    """Whether it is pinned."""

    pinned: bool


class FlickerAnswer(Answer):
    """Whether the flicker filter is on."""

    flicker_filter: bool


class OrderAnswer(Answer):
    """Every session that the caller sees, in order."""

    order: list[str]


class SizeAnswer(Answer):
    """The size that holds now."""

    cols: int
    rows: int


class DeliveryAnswer(Answer):
    """What became of an input."""

    delivered: bool
    duplicate: bool = False
    opened: str | None = None


class QuickStartAnswer(Answer):
    """The session that was started, and where."""

    session_id: str
    case_name: str
    case_path: str


class CursorAnswer(Answer):
    """Where the caret is, counted from 0."""

    x: int
    y: int


class TerminalAnswer(Answer):
    """A terminal read (protocol-terminal); without a process empty, C{offset} 0 and C{epoch}
    null."""

    terminal_buffer: str
    status: Status
    source: str = Field(pattern="^(visible|full-history)$")
    capture_cols: int
    capture_rows: int
    cursor: CursorAnswer
    alternate_screen: bool
    full_size: int
    truncated: bool
    truncation_reason: str | None = Field(pattern="^(tail|capped)$")
    offset: int
    epoch: str | None


class MatchAnswer(Answer):
    """One occurrence: 0-based row of the history, and offset in it."""

    line: int
    text: str
    offset: int


class SearchAnswer(Answer):
    """Occurrences, oldest first; C{truncated}: there are more."""

    matches: list[MatchAnswer]
    truncated: bool
