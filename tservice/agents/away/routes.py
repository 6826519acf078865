"""Operations C{/api/away}."""

from __future__ import annotations

from tservice.agents.away.responses import AwayResponse
from tservice.agents.away.service import AwayService
from tservice.core.callers.identity import Identity
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import READS_SESSIONS
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, Scope


class AwayRoutes:
    """Operations on the summary of the caller's own sessions."""

    def __init__(self, away: AwayService, multiuser: bool) -> None:
        self._away = away
        self._multiuser = multiuser

    @operation(
        "GET",
        "/api/away",
        tag="Notices",
        access=AccessRule.USER,
        scope=Scope.SESSIONS_READ,
        scope_reason=READS_SESSIONS,
    )
    async def get_summary(self, call: OperationCall) -> AwayResponse:
        """Get what your sessions did since you looked at each."""
        return await self._away.describe(call.caller, self._get_account(call.caller))

    @operation(
        "POST",
        "/api/away/seen",
        tag="Notices",
        access=AccessRule.USER,
        scope_reason="Only a person has read it.",
    )
    async def mark_seen(self, call: OperationCall) -> EmptyPayload:
        """Begin a new summary for all your sessions."""
        self._away.mark_all_seen(call.caller, self._get_account(call.caller))
        return EmptyPayload()

    def _get_account(self, caller: Identity) -> str:
        return caller.username if self._multiuser else ""
