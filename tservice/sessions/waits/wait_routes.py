"""HTTP operations for long polls (protocol-waits)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.http.envelope import NO_STORE
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, ResponseStyle, Scope
from tservice.http.validation.models import QueryBool, QueryInt, QueryParameters, ResponseModel
from tservice.sessions.waits.service import FLEET_MAX, WaitRequest, WaitService
from tservice.sessions.waits.signal_waits import TIMEOUT_DEFAULT, TIMEOUT_RANGE, SessionSignal
from tservice.terminal.stream_matcher import NEEDLE_MAX, SearchNeedle

BUSY = (ErrorCode.SESSION_BUSY, ErrorCode.RATE_LIMITED)


def split_tokens(texts: list[str]) -> list[str]:
    """Return the tokens of a query parameter that may be repeated or separated by commas."""
    return [token.strip() for text in texts for token in text.split(",")]


def parse_until(texts: list[str], field: str = "until") -> tuple[SessionSignal, ...] | None:
    """Return the signals in C{texts}, each once, in the requested order; C{None} if C{texts} has
    none.

    @param field: name of the request field, for the error.
    @raise ServiceError: 400 naming an unknown signal.
    """
    if not texts:
        return None
    found: dict[SessionSignal, None] = {}
    for token in split_tokens(texts):
        try:
            found[SessionSignal(token.lower())] = None
        except ValueError:
            names = ", ".join(SessionSignal)
            raise make_field_error(field, f"{token!r} is not one of {names}") from None
    return tuple(found)


def _refuse_regex(value: object) -> None:
    raise ValueError("is not supported: match is a literal text")


_CLAMPED = "Milliseconds; clamped to {}..{}".format(*TIMEOUT_RANGE)
Timeout = Annotated[QueryInt, Field(gt=0, description=_CLAMPED)]
NoRegex = Annotated[None, BeforeValidator(_refuse_regex)]


class WaitQuery(QueryParameters):
    """Query parameters of a wait."""

    until: list[str] = Field(default_factory=list)
    timeout: Timeout = TIMEOUT_DEFAULT
    fresh: QueryBool = False
    regex: NoRegex = None

    def make_request(self) -> WaitRequest:
        """Return the wait that these query parameters request."""
        return WaitRequest(until=parse_until(self.until), timeout_ms=self.timeout, fresh=self.fresh)


class FleetQuery(WaitQuery):
    """Query parameters of a wait on several sessions, for any or all of them."""

    sessions: list[str] = Field(min_length=1)
    mode: Literal["any", "all"] = "any"


class OutputQuery(QueryParameters):
    """Query parameters of a wait for output, and whether earlier output counts."""

    match: Annotated[str, Field(min_length=1, max_length=NEEDLE_MAX)]
    nocase: QueryBool = False
    from_: Annotated[Literal["now", "buffer"], Field(alias="from")] = "now"
    timeout: Timeout = TIMEOUT_DEFAULT
    regex: NoRegex = None


class WaitStateResponse(ResponseModel):
    """Result of a wait."""

    timed_out: bool
    timeout_ms: int
    until: list[SessionSignal]
    ended: bool


class SignalWaitState(WaitStateResponse):
    """Result of a wait for one session; C{signal} is null if none occurred."""

    signal: SessionSignal | None


class OutputWaitState(SignalWaitState):
    """Result of a wait for output."""

    matched: bool
    match: str | None
    snippet: str | None


class WaitResponse(ResponseModel):
    """Result of the wait, and the session's status."""

    wait: SignalWaitState
    waited_ms: int
    status: str
    limit_paused: bool
    immediate: bool


class OutputWaitResponse(WaitResponse):
    """Result of the wait for output, and the session's status."""

    wait: OutputWaitState


class FleetWaitResponse(ResponseModel):
    """Signal of each session, null if none occurred."""

    signals: dict[str, SessionSignal | None]
    wait: WaitStateResponse
    waited_ms: int
    immediate: bool


_WAITS = OperationFields(
    tag="Waits",
    access=AccessRule.OWNER,
    scope=Scope.WAITS,
    scope_reason=(
        "Waits for signals and text of sessions. Permissions are checked again before the response."
    ),
    style=ResponseStyle.LONG_POLL,
    errors=BUSY,
)


class WaitRoutes:
    """HTTP operations C{wait}, C{wait-output} and the wait for several sessions."""

    def __init__(self, waiting: WaitService) -> None:
        self._waiting = waiting

    @operation("GET", "/api/sessions/{id}/wait", _WAITS, response_model=WaitResponse)
    async def _wait_for_signal(self, call: OperationCall, query: WaitQuery) -> RawReply:
        """Wait until the session gives a signal."""
        found = await self._waiting.wait_for_signal(call.id, query.make_request(), call.caller)
        return _uncached_reply(WaitResponse, found)

    @operation("GET", "/api/sessions/{id}/wait-output", _WAITS, response_model=OutputWaitResponse)
    async def _wait_output(self, call: OperationCall, query: OutputQuery) -> RawReply:
        """Wait until the session prints a literal text."""
        found = await self._waiting.wait_output(
            call.id,
            SearchNeedle(query.match, query.nocase),
            call.caller,
            timeout_ms=query.timeout,
            from_buffer=query.from_ == "buffer",
        )
        return _uncached_reply(OutputWaitResponse, found)

    @operation(
        "GET",
        "/api/waits",
        _WAITS,
        access=AccessRule.USER,
        response_model=FleetWaitResponse,
        errors=(ErrorCode.NOT_FOUND,),
    )
    async def _wait_for_fleet(self, call: OperationCall, query: FleetQuery) -> RawReply:
        """Wait until any or all of several sessions give a signal."""
        ids = list(dict.fromkeys(split_tokens(query.sessions)))
        if not all(ids) or len(ids) > FLEET_MAX:
            raise make_field_error("sessions", f"must name 1 to {FLEET_MAX} sessions")
        found = await self._waiting.wait_for_sessions(
            ids, query.make_request(), call.caller, need_all=query.mode == "all"
        )
        return _uncached_reply(FleetWaitResponse, found)


def _uncached_reply(answer: type[ResponseModel], found: dict[str, Any]) -> RawReply:
    return RawReply(content=answer.model_validate(found), headers=NO_STORE)
