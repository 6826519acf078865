"""HTTP operations C{/api/sessions/:id/readmymind} and C{/api/sessions/:id/intent}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.values.failfast import FAIL_FAST
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, ResponseStyle, Scope
from tservice.http.validation.models import RequestBody
from tservice.suggestions.intents import IntentService
from tservice.suggestions.model import GOALS
from tservice.suggestions.responses import (
    IntentDeletedResponse,
    IntentEnvelope,
    SuggestionsResponse,
    make_intent_response,
    make_suggestion_response,
)
from tservice.suggestions.suggester import Suggester

STEER = 2000
REJECTED, REJECTED_TEXT = 10, 1000

Goals = Annotated[str, StringConstraints(max_length=GOALS)]
Rejected = Annotated[str, StringConstraints(max_length=REJECTED_TEXT)]


class SuggestBody(RequestBody):
    """Context for further suggestions; both fields are absent in the first request."""

    steer: Annotated[str, StringConstraints(max_length=STEER)] | None = None
    rejected: Annotated[list[Rejected], Field(max_length=REJECTED), FAIL_FAST] | None = None


class IntentBody(RequestBody):
    """Complete intent."""

    goals: Goals


def _require_enabled(routes: SuggestionRoutes) -> None:
    routes._mind.require_enabled()


_INTENT = OperationFields(
    tag="Intent",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_INPUT,
    scope_reason="Text from which suggestions are made.",
    errors=(ErrorCode.OPERATION_FAILED,),
)


class SuggestionRoutes:
    """HTTP operations that call L{Suggester} and L{IntentService}."""

    def __init__(self, mind: Suggester, intents: IntentService) -> None:
        self._mind, self._intents = mind, intents

    @operation(
        "POST",
        "/api/sessions/{id}/readmymind",
        tag="Intent",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_INPUT,
        scope_reason=(
            "Asks the session's own CLI for the next input, without any tool. Nothing is typed."
        ),
        style=ResponseStyle.LONG_POLL,
        optional_body=True,
        allowed=_require_enabled,
        errors=(
            ErrorCode.INVALID_INPUT,
            ErrorCode.FORBIDDEN,
            ErrorCode.CONFLICT,
            ErrorCode.OPERATION_FAILED,
            ErrorCode.RATE_LIMITED,
        ),
    )
    async def make_suggestions(self, call: OperationCall, body: SuggestBody) -> SuggestionsResponse:
        """Suggest the next input; nothing is sent to the session."""
        found = await self._mind.suggest_prompts(
            call.id,
            granted=call.caller.can_bypass_permissions,
            steer=body.steer or "",
            rejected=body.rejected or (),
            caller=call.caller,
        )
        return SuggestionsResponse(
            suggestions=[make_suggestion_response(each) for each in found["suggestions"]],
            duration_ms=found["ended"] - found["began"],
        )

    @operation(
        "GET",
        "/api/sessions/{id}/intent",
        _INTENT,
        scope=Scope.SESSIONS_READ,
        scope_reason="Reads goals, and the prompts to agents in the workspace.",
    )
    async def get_intent(self, call: OperationCall) -> IntentEnvelope:
        """Get the owner's intent for the session's workspace."""
        return make_intent_response(await self._intents.find_intent(call.id))

    @operation("PUT", "/api/sessions/{id}/intent", _INTENT)
    async def replace_intent(self, call: OperationCall, body: IntentBody) -> IntentEnvelope:
        """Replace the complete intent."""
        intent = await self._intents.replace_goals(call.id, body.goals, call.caller)
        return make_intent_response(intent)

    @operation("DELETE", "/api/sessions/{id}/intent", _INTENT, audit=AuditMode.EACH)
    async def delete_intent(self, call: OperationCall) -> IntentDeletedResponse:
        """Remove the intent."""
        return IntentDeletedResponse(
            deleted=await self._intents.delete_intent(call.id, call.caller)
        )
