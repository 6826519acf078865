"""HTTP operations on a session's name, colour, pin, order, priority and automatic operations
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
    NameSource,
    ProcessPriority,
    SessionColour,
)
from tservice.sessions.record.wire import make_answer_model, make_part_response
from tservice.sessions.routes.lifecycle_routes import SessionId, SessionName
from tservice.sessions.routes.responses import (
    FlickerFilterResponse,
    SessionColourResponse,
    SessionNameResponse,
    SessionOrderResponse,
    SessionPinResponse,
)
from tservice.sessions.service import SessionService

ORDER_BODY_LIMIT = 128 * 1024
"""Maximum bytes of a request body with the list order: a thousand session ids."""

Threshold = Annotated[int, Field(ge=1, le=10_000_000)]


class NameBody(RequestBody):
    """New name. An empty name selects a generated one."""

    name: SessionName


class ColourBody(RequestBody):
    """New colour, one of eight."""

    color: Annotated[SessionColour, Field(strict=False)]


class PinBody(RequestBody):
    """New pinned state."""

    pinned: bool


class FlickerBody(RequestBody):
    """New state of the flicker filter."""

    flicker_filter: bool


class NiceBody(RequestBody):
    """Priority of the pane's process."""

    enabled: bool
    value: Annotated[int, Field(ge=-20, le=19)] = 0


class AutoCompactBody(RequestBody):
    """Setting for C{/compact} at C{threshold} tokens."""

    enabled: bool
    threshold: Threshold = AutoCompact().threshold
    prompt: Annotated[str, StringConstraints(max_length=4000)] | None = None


class AutoClearBody(RequestBody):
    """Setting for C{/clear} at C{threshold} tokens."""

    enabled: bool
    threshold: Threshold = AutoClear().threshold


class AutoResumeBody(RequestBody):
    """Setting for continuing after a usage limit."""

    enabled: bool
    resume_at: Annotated[int, Field(ge=0, le=2**53 - 1)] | None = None


class OrderBody(RequestBody):
    """Session ids in their new order; other sessions keep their position."""

    order: Annotated[list[SessionId], Field(max_length=1000), FAIL_FAST]


class PropertyRoutes:
    """HTTP C{PUT} operations, each on one field of a session."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    def operations(self) -> list[Operation]:
        """Return the HTTP operations on fields of a session."""
        return [
            *self._identity_operations(),
            *self._automatic_operations(),
            self._order_operation(),
        ]

    def _identity_operations(self) -> list[Operation]:
        return [
            _put_operation(
                "name", self.set_name, "Rename the session", NameBody, SessionNameResponse
            ),
            _put_operation(
                "color",
                self.set_colour,
                "Change the session's colour",
                ColourBody,
                SessionColourResponse,
            ),
            _put_operation(
                "pin", self.set_pinned, "Pin or unpin the session", PinBody, SessionPinResponse
            ),
            _put_operation(
                "nice",
                self.set_priority,
                "Change the priority of the session's process",
                NiceBody,
                make_answer_model(ProcessPriority),
            ),
            _put_operation(
                "flicker-filter",
                self.set_flicker_filter,
                "Switch the session's flicker filter on or off",
                FlickerBody,
                FlickerFilterResponse,
            ),
        ]

    def _automatic_operations(self) -> list[Operation]:
        return [
            _put_operation(
                "auto-compact",
                self.set_auto_compact,
                "Configure automatic /compact",
                AutoCompactBody,
                make_answer_model(AutoCompact),
            ),
            _put_operation(
                "auto-clear",
                self.set_auto_clear,
                "Configure automatic /clear",
                AutoClearBody,
                make_answer_model(AutoClear),
            ),
            _put_operation(
                "auto-resume",
                self.set_auto_resume,
                "Configure automatic resume",
                AutoResumeBody,
                make_answer_model(AutoResume),
            ),
        ]

    def _order_operation(self) -> Operation:
        return Operation(
            method="PUT",
            path="/api/session-order",
            access=AccessRule.USER,
            scope=Scope.SESSIONS_MANAGE,
            handler=self.set_order,
            summary="Reorder your sessions",
            tag="Sessions",
            body=OrderBody,
            body_limit=ORDER_BODY_LIMIT,
            response_model=SessionOrderResponse,
            errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
        )

    async def set_name(self, call: OperationCall) -> object:
        """Set the session's name."""
        session = self._sessions.rename_session(call.id, call.body.name, NameSource.MANUAL)
        return SessionNameResponse(name=session.name)

    async def set_colour(self, call: OperationCall) -> object:
        """Set the session's colour."""
        session = self._sessions.update_record(call.id, colour=call.body.color)
        return SessionColourResponse(color=session.colour)

    async def set_pinned(self, call: OperationCall) -> object:
        """Pin or unpin the session."""
        properties = self._sessions.properties
        session = properties.set_pinned(self._sessions.get_live_session(call.id), call.body.pinned)
        return SessionPinResponse(pinned=session.pinned)

    async def set_priority(self, call: OperationCall) -> object:
        """Set the priority of the session's process, immediately if a process runs."""
        nice = ProcessPriority(enabled=call.body.enabled, value=call.body.value)
        session = self._sessions.properties.set_priority(
            self._sessions.get_live_session(call.id), nice
        )
        return make_part_response(session.nice)

    async def set_flicker_filter(self, call: OperationCall) -> object:
        """Switch the session's flicker filter on or off."""
        session = self._sessions.update_record(call.id, flicker_filter=call.body.flicker_filter)
        return FlickerFilterResponse(flicker_filter=session.flicker_filter)

    async def set_auto_compact(self, call: OperationCall) -> object:
        """Change the setting that sends C{/compact} automatically."""
        wanted = AutoCompact(
            enabled=call.body.enabled, threshold=call.body.threshold, prompt=call.body.prompt
        )
        return make_part_response(
            self._sessions.update_record(call.id, auto_compact=wanted).auto_compact
        )

    async def set_auto_clear(self, call: OperationCall) -> object:
        """Change the setting that sends C{/clear} automatically."""
        wanted = AutoClear(enabled=call.body.enabled, threshold=call.body.threshold)
        return make_part_response(
            self._sessions.update_record(call.id, auto_clear=wanted).auto_clear
        )

    async def set_auto_resume(self, call: OperationCall) -> object:
        """Change the setting that continues the session after a usage limit."""
        wanted = AutoResume(enabled=call.body.enabled, resume_at=call.body.resume_at)
        return make_part_response(
            self._sessions.update_record(call.id, auto_resume=wanted).auto_resume
        )

    async def set_order(self, call: OperationCall) -> object:
        """Set the list order of the caller's sessions."""
        order = self._sessions.properties.set_list_order(call.body.order, call.identity)
        return SessionOrderResponse(order=order)


def _put_operation(
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
