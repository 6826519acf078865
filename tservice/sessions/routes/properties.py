"""Operations on name, colour, pin, order, priority and automatic operations of a session
(protocol-sessions).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from tservice.core.errors import ErrorCode
from tservice.core.failfast import FAIL_FAST
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope
from tservice.sessions.record.model import (
    AutoClear,
    AutoCompact,
    AutoResume,
    Colour,
    NameSource,
    Nice,
)
from tservice.sessions.record.wire import answer_of, shown
from tservice.sessions.routes.answers import (
    ColourAnswer,
    FlickerAnswer,
    NameAnswer,
    OrderAnswer,
    PinAnswer,
)
from tservice.sessions.routes.life import SessionId, SessionName
from tservice.sessions.service import SessionService

ORDER_BODY_LIMIT = 128 * 1024
"""Maximum bytes: a thousand ids in plain ASCII."""

Threshold = Annotated[int, Field(ge=1, le=10_000_000)]


class NameBody(RequestBody):
    """An empty name returns to a generated one."""

    name: SessionName


class ColourBody(RequestBody):
    """One of the eight colours."""

    color: Annotated[Colour, Field(strict=False)]


class PinBody(RequestBody):
    """Pinned or not."""

    pinned: bool


class FlickerBody(RequestBody):
    """The flicker filter, on or off."""

    flicker_filter: bool


class NiceBody(RequestBody):
    """The priority of the pane's process."""

    enabled: bool
    value: Annotated[int, Field(ge=-20, le=19)] = 0


class AutoCompactBody(RequestBody):
    """C{/compact} at C{threshold} tokens."""

    enabled: bool
    threshold: Threshold = AutoCompact().threshold
    prompt: Annotated[str, StringConstraints(max_length=4000)] | None = None


class AutoClearBody(RequestBody):
    """C{/clear} at C{threshold} tokens."""

    enabled: bool
    threshold: Threshold = AutoClear().threshold


class AutoResumeBody(RequestBody):
    """Go on after a usage limit."""

    enabled: bool
    resume_at: Annotated[int, Field(ge=0, le=2**53 - 1)] | None = None


class OrderBody(RequestBody):
    """Session ids in their new order; those not named stay where they are."""

    order: Annotated[list[SessionId], Field(max_length=1000), FAIL_FAST]


class PropertyRoutes:
    """C{PUT} operations of single fields."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    def operations(self) -> list[Operation]:
        """Return the operations of this class."""
        return [
            _put("name", self.rename, "Rename the session", NameBody, NameAnswer),
            _put("color", self.colour, "Give it a colour", ColourBody, ColourAnswer),
            _put("pin", self.pin, "Pin it, or not", PinBody, PinAnswer),
            _put("nice", self.nice, "Renice its process", NiceBody, answer_of(Nice)),
            _put(
                "flicker-filter",
                self.flicker,
                "Flicker filter on or off",
                FlickerBody,
                FlickerAnswer,
            ),
            _put(
                "auto-compact",
                self.compact,
                "Automatic /compact",
                AutoCompactBody,
                answer_of(AutoCompact),
            ),
            _put("auto-clear", self.clear, "Automatic /clear", AutoClearBody, answer_of(AutoClear)),
            _put(
                "auto-resume",
                self.resume,
                "Automatic resume",
                AutoResumeBody,
                answer_of(AutoResume),
            ),
            Operation(
                method="PUT",
                path="/api/session-order",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_MANAGE,
                handler=self.order,
                summary="Put the caller's sessions into an order",
                tag="Sessions",
                body=OrderBody,
                body_limit=ORDER_BODY_LIMIT,
                response_model=OrderAnswer,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
            ),
        ]

    async def rename(self, call: OperationCall) -> object:
        """Set the name."""
        session = self._sessions.rename(call.id, call.body.name, NameSource.MANUAL)
        return NameAnswer(name=session.name)

    async def colour(self, call: OperationCall) -> object:
        """Set the colour."""
        session = self._sessions.update(call.id, colour=call.body.color)
        return ColourAnswer(color=session.colour)

    async def pin(self, call: OperationCall) -> object:
        """Pin or unpin the session."""
        properties = self._sessions.properties
        session = properties.pin(self._sessions.live(call.id), call.body.pinned)
        return PinAnswer(pinned=session.pinned)

    async def nice(self, call: OperationCall) -> object:
        """Set the priority, immediately if a process runs."""
        nice = Nice(enabled=call.body.enabled, value=call.body.value)
        session = self._sessions.properties.nice(self._sessions.live(call.id), nice)
        return shown(session.nice)

    async def flicker(self, call: OperationCall) -> object:
        """Set the flicker filter."""
        session = self._sessions.update(call.id, flicker_filter=call.body.flicker_filter)
        return FlickerAnswer(flicker_filter=session.flicker_filter)

    async def compact(self, call: OperationCall) -> object:
        """Set the automatic C{/compact}."""
        wanted = AutoCompact(
            enabled=call.body.enabled, threshold=call.body.threshold, prompt=call.body.prompt
        )
        return shown(self._sessions.update(call.id, auto_compact=wanted).auto_compact)

    async def clear(self, call: OperationCall) -> object:
        """Set the automatic C{/clear}."""
        wanted = AutoClear(enabled=call.body.enabled, threshold=call.body.threshold)
        return shown(self._sessions.update(call.id, auto_clear=wanted).auto_clear)

    async def resume(self, call: OperationCall) -> object:
        """Set the automatic resume."""
        wanted = AutoResume(enabled=call.body.enabled, resume_at=call.body.resume_at)
        return shown(self._sessions.update(call.id, auto_resume=wanted).auto_resume)

    async def order(self, call: OperationCall) -> object:
        """Set the order of the list."""
        order = self._sessions.properties.order(call.body.order, call.identity)
        return OrderAnswer(order=order)


def _put(
    name: str, handler: Handler, summary: str, body: type[BaseModel], answer: type[BaseModel]
) -> Operation:
    return Operation(
        method="PUT",
        path=f"/api/sessions/{{id}}/{name}",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_MANAGE,
        handler=handler,
        summary=summary,
        tag="Sessions",
        body=body,
        response_model=answer,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
    )
