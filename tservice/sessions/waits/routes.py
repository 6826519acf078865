"""Long-polling operations (protocol-waits)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from tservice.core.errors import ErrorCode, invalid_field
from tservice.http.models import QueryBool, QueryInt, QueryParameters, ResponseModel
from tservice.http.operations import (
    AccessRule,
    Operation,
    OperationCall,
    RawReply,
    ResponseStyle,
    Scope,
)
from tservice.sessions.waits.service import FLEET_MAX, Waiting, WaitRequest
from tservice.sessions.waits.signals import TIMEOUT_DEFAULT, Signal
from tservice.terminal.stream_matcher import NEEDLE_MAX, SearchNeedle

NO_STORE = {"Cache-Control": "no-store"}
BUSY = (ErrorCode.SESSION_BUSY, ErrorCode.RATE_LIMITED)


def split_tokens(texts: list[str]) -> list[str]:
    """Return the tokens of a list that may be repeated or separated by commas."""
    return [token.strip() for text in texts for token in text.split(",")]


def parse_until(texts: list[str], field: str = "until") -> tuple[Signal, ...] | None:
    """Return the signals in C{texts}, each once, in the requested order.

    @raise ServiceError: 400 naming an unknown token.
    """
    if not texts:
        return None
    found: dict[Signal, None] = {}
    for token in split_tokens(texts):
        try:
            found[Signal(token.lower())] = None
        except ValueError:
            names = ", ".join(Signal)
            raise invalid_field(field, f"{token!r} is not one of {names}") from None
    return tuple(found)


def _no_regex(value: object) -> None:
    raise ValueError("is not supported: match is a literal text")


Timeout = Annotated[QueryInt, Field(gt=0, description="Milliseconds; clamped to 1000..600000")]
NoRegex = Annotated[None, BeforeValidator(_no_regex)]


class WaitQuery(QueryParameters):
    """Query parameters of a wait."""

    until: list[str] = Field(default_factory=list)
    timeout: Timeout = TIMEOUT_DEFAULT
    fresh: QueryBool = False
    regex: NoRegex = None

    def request(self) -> WaitRequest:
        """Return the requested wait."""
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


class WaitState(ResponseModel):
    """How the wait ended."""

    timed_out: bool
    timeout_ms: int
    until: list[Signal]
    ended: bool


class SignalState(WaitState):
    """How a wait for one session ended; C{signal} is null where none came."""

    signal: Signal | None


class OutputState(SignalState):
    """How a wait for output ended."""

    matched: bool
    match: str | None
    snippet: str | None


class WaitAnswer(ResponseModel):
    """The wait, and the session's status alongside."""

    wait: SignalState
    waited_ms: int
    status: str
    limit_paused: bool
    immediate: bool


class OutputAnswer(WaitAnswer):
    """The wait for output, and the session's status alongside."""

    wait: OutputState


class FleetAnswer(ResponseModel):
    """Each session's signal, null where none came."""

    signals: dict[str, Signal | None]
    wait: WaitState
    waited_ms: int
    immediate: bool


class WaitRoutes:
    """Operations C{wait}, C{wait-output} and the fleet wait."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting

    async def _wait(self, call: OperationCall) -> RawReply:
        found = await self._waiting.wait(call.id, call.query.request(), call.identity)
        return _fresh(WaitAnswer, found)

    async def _wait_output(self, call: OperationCall) -> RawReply:
        query: OutputQuery = call.query
        found = await self._waiting.wait_output(
            call.id,
            SearchNeedle(query.match, query.nocase),
            call.identity,
            timeout_ms=query.timeout,
            from_buffer=query.from_ == "buffer",
        )
        return _fresh(OutputAnswer, found)

    async def _fleet(self, call: OperationCall) -> RawReply:
        query: FleetQuery = call.query
        ids = list(dict.fromkeys(split_tokens(query.sessions)))
        if not all(ids) or len(ids) > FLEET_MAX:
            raise invalid_field("sessions", f"must name 1 to {FLEET_MAX} sessions")
        found = await self._waiting.fleet(
            ids, query.request(), call.identity, need_all=query.mode == "all"
        )
        return _fresh(FleetAnswer, found)

    def operations(self) -> list[Operation]:
        """Return the operations of this class."""
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/wait",
                access=AccessRule.OWNER,
                scope=Scope.WAITS,
                handler=self._wait,
                summary="Wait until the session gives a signal",
                tag="Waits",
                query=WaitQuery,
                response_model=WaitAnswer,
                style=ResponseStyle.LONG_POLL,
                errors=BUSY,
            ),
            Operation(
                method="GET",
                path="/api/sessions/{id}/wait-output",
                access=AccessRule.OWNER,
                scope=Scope.WAITS,
                handler=self._wait_output,
                summary="Wait until the session prints a literal text",
                tag="Waits",
                query=OutputQuery,
                response_model=OutputAnswer,
                style=ResponseStyle.LONG_POLL,
                errors=BUSY,
            ),
            Operation(
                method="GET",
                path="/api/waits",
                access=AccessRule.USER,
                scope=Scope.WAITS,
                handler=self._fleet,
                summary="Wait until any or all of several sessions give a signal",
                tag="Waits",
                query=FleetQuery,
                response_model=FleetAnswer,
                style=ResponseStyle.LONG_POLL,
                errors=(*BUSY, ErrorCode.NOT_FOUND),
            ),
        ]


def _fresh(answer: type[ResponseModel], found: dict[str, Any]) -> RawReply:
    return RawReply(content=answer.model_validate(found), headers=NO_STORE)
