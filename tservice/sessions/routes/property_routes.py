"""HTTP operations on a session's name, colour, pin, order, priority and automatic operations
(protocol-sessions).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import CHANGES_OWN_SESSIONS
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.payload import Payload
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import RequestBody
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


_PROPERTIES = OperationFields(
    tag="Sessions",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_MANAGE,
    scope_reason=CHANGES_OWN_SESSIONS,
    errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
)


class PropertyRoutes:
    """HTTP C{PUT} operations, each on one field of a session."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    @operation("PUT", "/api/sessions/{id}/name", _PROPERTIES)
    async def set_name(self, call: OperationCall, body: NameBody) -> SessionNameResponse:
        """Rename the session."""
        session = self._sessions.rename_session(call.id, body.name, NameSource.MANUAL)
        return SessionNameResponse(name=session.name)

    @operation("PUT", "/api/sessions/{id}/color", _PROPERTIES)
    async def set_colour(self, call: OperationCall, body: ColourBody) -> SessionColourResponse:
        """Change the session's colour."""
        session = self._sessions.update_record(call.id, colour=body.color)
        return SessionColourResponse(color=session.colour)

    @operation("PUT", "/api/sessions/{id}/pin", _PROPERTIES)
    async def set_pinned(self, call: OperationCall, body: PinBody) -> SessionPinResponse:
        """Pin or unpin the session."""
        properties = self._sessions.properties
        session = properties.set_pinned(self._sessions.get_live_session(call.id), body.pinned)
        return SessionPinResponse(pinned=session.pinned)

    @operation(
        "PUT",
        "/api/sessions/{id}/nice",
        _PROPERTIES,
        response_model=make_answer_model(ProcessPriority),
    )
    async def set_priority(self, call: OperationCall, body: NiceBody) -> Payload:
        """Change the priority of the session's process."""
        nice = ProcessPriority(enabled=body.enabled, value=body.value)
        session = self._sessions.properties.set_priority(
            self._sessions.get_live_session(call.id), nice
        )
        return make_part_response(session.nice)

    @operation("PUT", "/api/sessions/{id}/flicker-filter", _PROPERTIES)
    async def set_flicker_filter(
        self, call: OperationCall, body: FlickerBody
    ) -> FlickerFilterResponse:
        """Switch the session's flicker filter on or off."""
        session = self._sessions.update_record(call.id, flicker_filter=body.flicker_filter)
        return FlickerFilterResponse(flicker_filter=session.flicker_filter)

    @operation(
        "PUT",
        "/api/sessions/{id}/auto-compact",
        _PROPERTIES,
        response_model=make_answer_model(AutoCompact),
    )
    async def set_auto_compact(self, call: OperationCall, body: AutoCompactBody) -> Payload:
        """Configure automatic /compact."""
        wanted = AutoCompact(enabled=body.enabled, threshold=body.threshold, prompt=body.prompt)
        return make_part_response(
            self._sessions.update_record(call.id, auto_compact=wanted).auto_compact
        )

    @operation(
        "PUT",
        "/api/sessions/{id}/auto-clear",
        _PROPERTIES,
        response_model=make_answer_model(AutoClear),
    )
    async def set_auto_clear(self, call: OperationCall, body: AutoClearBody) -> Payload:
        """Configure automatic /clear."""
        wanted = AutoClear(enabled=body.enabled, threshold=body.threshold)
        return make_part_response(
            self._sessions.update_record(call.id, auto_clear=wanted).auto_clear
        )

    @operation(
        "PUT",
        "/api/sessions/{id}/auto-resume",
        _PROPERTIES,
        response_model=make_answer_model(AutoResume),
    )
    async def set_auto_resume(self, call: OperationCall, body: AutoResumeBody) -> Payload:
        """Configure automatic resume."""
        wanted = AutoResume(enabled=body.enabled, resume_at=body.resume_at)
        return make_part_response(
            self._sessions.update_record(call.id, auto_resume=wanted).auto_resume
        )

    @operation(
        "PUT",
        "/api/session-order",
        tag="Sessions",
        access=AccessRule.USER,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=CHANGES_OWN_SESSIONS,
        body_limit=ORDER_BODY_LIMIT,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
    )
    async def set_order(self, call: OperationCall, body: OrderBody) -> SessionOrderResponse:
        """Reorder your sessions."""
        order = self._sessions.properties.set_list_order(body.order, call.caller)
        return SessionOrderResponse(order=order)
