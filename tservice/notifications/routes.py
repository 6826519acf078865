"""Operations on the notices of sessions (protocol-notices)."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.core.kernel.scopes import CHANGES_OWN_SESSIONS
from tservice.core.values.payload import omit_if_none
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import RequestBody, ResponseModel
from tservice.notifications.snooze_rules import SnoozeChoice
from tservice.notifications.snoozes import SnoozeService

ZoneName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_+/-]+$", max_length=64)]


class SnoozeBody(RequestBody):
    """End of the snooze: a choice, a time in Unix milliseconds, or null to end it now."""

    until: (
        Annotated[SnoozeChoice, Field(strict=False)] | Annotated[int, Field(ge=0, le=2**53 - 1)]
    ) | None
    time_zone: ZoneName | None = None


class SnoozeEnd(ResponseModel):
    """Pause of the notices; absent if it ended."""

    until: int | None = omit_if_none()


class SnoozeResponse(ResponseModel):
    """Current pause of a session's notices; absent without one."""

    snooze: SnoozeEnd | None = omit_if_none()


class NoticeRoutes:
    """Operations that pause the notices of a session."""

    def __init__(self, snoozes: SnoozeService) -> None:
        self._snoozes = snoozes

    @operation(
        "POST",
        "/api/sessions/{id}/snooze",
        tag="Notices",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=CHANGES_OWN_SESSIONS,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
    )
    async def snooze_session(self, call: OperationCall, body: SnoozeBody) -> SnoozeResponse:
        """Pause the notices of a session, or end the pause."""
        zone = None if body.time_zone is None else parse_zone("timeZone", body.time_zone)
        snooze = self._snoozes.set_snooze(call.id, body.until, zone)
        return SnoozeResponse(snooze=None if snooze is None else SnoozeEnd(until=snooze.until))


def parse_zone(field: str, name: str) -> ZoneInfo:
    """Return the time zone with an IANA name.

    @raise ServiceError: 400: the machine knows no such zone.
    """
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise make_field_error(field, "must be the name of a time zone, as Europe/Berlin") from None
