"""Operations C{/api/reboot-restore}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.errors import ErrorCode
from tservice.core.failfast import FAIL_FAST
from tservice.http.models import RequestBody
from tservice.http.operations import (
    AccessRule,
    AuditMode,
    Operation,
    OperationCall,
    ResponseStyle,
    Scope,
)
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


class RestoreRoutes:
    """Operations that show, accept and dismiss the offer; the rules are in L{RestoreService}."""

    def __init__(self, restore: RestoreService) -> None:
        self._restore = restore

    def operations(self) -> list[Operation]:
        """Return the HTTP operations that this class handles."""
        return [
            Operation(
                method="GET",
                path=PATH,
                access=AccessRule.USER,
                scope=Scope.SESSIONS_READ,
                handler=self.get_offer,
                summary="List the sessions that a reboot ended and that can be restored",
                tag="Restore",
                response_model=RestoreOfferResponse,
                errors=(ErrorCode.OPERATION_FAILED,),
            ),
            Operation(
                method="POST",
                path=f"{PATH}/restore",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_MANAGE,
                handler=self.restore_sessions,
                style=ResponseStyle.LONG_POLL,
                summary="Restore the sessions, one at a time; returns when all are done",
                tag="Restore",
                body=RestoreBody,
                optional_body=True,
                response_model=RestoreReportResponse,
                errors=(ErrorCode.CONFLICT,),
            ),
            Operation(
                method="POST",
                path=f"{PATH}/dismiss",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_MANAGE,
                audit=AuditMode.EACH,
                handler=self.dismiss_offer,
                summary="Dismiss the offer; the sessions stay in the list",
                tag="Restore",
                response_model=OfferDismissedResponse,
                errors=(ErrorCode.OPERATION_FAILED,),
            ),
        ]

    async def get_offer(self, call: OperationCall) -> RestoreOfferResponse:
        """Return the offer."""
        return make_offer_response(await self._restore.get_offer(call.identity))

    async def restore_sessions(self, call: OperationCall) -> RestoreReportResponse:
        """Restore sessions."""
        return await self._restore.restore_sessions(
            call.identity, call.body.session_ids, call.reauthorize
        )

    async def dismiss_offer(self, call: OperationCall) -> OfferDismissedResponse:
        """Dismiss the offer."""
        return OfferDismissedResponse(dismissed=self._restore.dismiss_offer(call.identity))
