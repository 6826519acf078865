"""Operations C{/api/reboot-restore}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.values.failfast import FAIL_FAST
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, ResponseStyle, Scope
from tservice.http.validation.models import RequestBody
from tservice.restore.responses import (
    OfferDismissedResponse,
    RestoreOfferResponse,
    RestoreReportResponse,
    make_offer_response,
)
from tservice.restore.service import RestoreService

PATH = "/api/reboot-restore"

MOST = 1000
"""Maximum number of session ids in a request."""

SessionId = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class RestoreBody(RequestBody):
    """Offered sessions to restore; all if absent."""

    session_ids: Annotated[list[SessionId], Field(max_length=MOST), FAIL_FAST] | None = None


_RESTORE = OperationFields(
    tag="Restore",
    access=AccessRule.USER,
    scope=Scope.SESSIONS_MANAGE,
)


class RestoreRoutes:
    """Operations that show, accept and dismiss the offer; the rules are in L{RestoreService}."""

    def __init__(self, restore: RestoreService) -> None:
        self._restore = restore

    @operation(
        "GET",
        "/api/reboot-restore",
        _RESTORE,
        scope=Scope.SESSIONS_READ,
        scope_reason="Lists the sessions that a reboot has ended.",
        errors=(ErrorCode.OPERATION_FAILED,),
    )
    async def get_offer(self, call: OperationCall) -> RestoreOfferResponse:
        """List the sessions that a reboot ended and that can be restored."""
        return make_offer_response(await self._restore.get_offer(call.caller))

    @operation(
        "POST",
        "/api/reboot-restore/restore",
        _RESTORE,
        scope_reason="Restarts sessions, with the same effect as starting each of them.",
        style=ResponseStyle.LONG_POLL,
        optional_body=True,
        errors=(ErrorCode.CONFLICT,),
    )
    async def restore_sessions(
        self, call: OperationCall, body: RestoreBody
    ) -> RestoreReportResponse:
        """Restore the sessions, one at a time; returns when all are done."""
        return await self._restore.restore_sessions(call.caller, body.session_ids)

    @operation(
        "POST",
        "/api/reboot-restore/dismiss",
        _RESTORE,
        scope_reason="Removes only the offer. Each session can still be started.",
        audit=AuditMode.EACH,
        errors=(ErrorCode.OPERATION_FAILED,),
    )
    async def dismiss_offer(self, call: OperationCall) -> OfferDismissedResponse:
        """Dismiss the offer; the sessions stay in the list."""
        return OfferDismissedResponse(dismissed=self._restore.dismiss_offer(call.caller))
