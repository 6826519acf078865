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
from tservice.restore.service import RestoreService
from tservice.restore.shown import DismissalAnswer, OfferAnswer, ReportAnswer, offer_answer

PATH = "/api/reboot-restore"

MOST = 1000
"""Maximum sessions that a request may name."""

SessionId = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class RestoreBody(RequestBody):
    """Which of the sessions that are offered; all when absent."""

    session_ids: Annotated[list[SessionId], Field(max_length=MOST), FAIL_FAST] | None = None


class RestoreRoutes:
    """Operations of the offer; the rules are in L{RestoreService}."""

    def __init__(self, restore: RestoreService) -> None:
        self._restore = restore

    def operations(self) -> list[Operation]:
        """Return the operations of this class."""
        return [
            Operation(
                method="GET",
                path=PATH,
                access=AccessRule.USER,
                scope=Scope.SESSIONS_READ,
                handler=self.read,
                summary="The sessions that a reboot ended and that can be brought back",
                tag="Restore",
                response_model=OfferAnswer,
                errors=(ErrorCode.OPERATION_FAILED,),
            ),
            Operation(
                method="POST",
                path=f"{PATH}/restore",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_MANAGE,
                handler=self.restore,
                style=ResponseStyle.LONG_POLL,
                summary="Start them again, one at a time; answers when all are done",
                tag="Restore",
                body=RestoreBody,
                optional_body=True,
                response_model=ReportAnswer,
                errors=(ErrorCode.CONFLICT,),
            ),
            Operation(
                method="POST",
                path=f"{PATH}/dismiss",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_MANAGE,
                audit=AuditMode.EACH,
                handler=self.dismiss,
                summary="Forget the offer; the sessions stay in the list",
                tag="Restore",
                response_model=DismissalAnswer,
                errors=(ErrorCode.OPERATION_FAILED,),
            ),
        ]

    async def read(self, call: OperationCall) -> OfferAnswer:
        """Return the offer."""
        return offer_answer(await self._restore.offer(call.identity))

    async def restore(self, call: OperationCall) -> ReportAnswer:
        """Restore sessions."""
        return await self._restore.restore(call.identity, call.body.session_ids, call.reauthorize)

    async def dismiss(self, call: OperationCall) -> DismissalAnswer:
        """Dismiss the offer."""
        return DismissalAnswer(dismissed=self._restore.dismiss(call.identity))
