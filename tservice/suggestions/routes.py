"""HTTP operations C{/api/sessions/:id/readmymind} and C{/api/sessions/:id/intent}."""

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


class SuggestionRoutes:
    """HTTP operations that call L{Suggester} and L{IntentService}."""

    def __init__(self, mind: Suggester, intents: IntentService) -> None:
        self._mind, self._intents = mind, intents

    def operations(self) -> list[Operation]:
        """Return the HTTP operations on suggestions and intents."""
        return [self._suggest_operation(), *self._intent_operations()]

    def _suggest_operation(self) -> Operation:
        return Operation(
            method="POST",
            path="/api/sessions/{id}/readmymind",
            access=AccessRule.OWNER,
            scope=Scope.SESSIONS_INPUT,
            style=ResponseStyle.LONG_POLL,
            handler=self.make_suggestions,
            summary="Suggest the next input; nothing is sent to the session",
            tag="Intent",
            body=SuggestBody,
            optional_body=True,
            response_model=SuggestionsResponse,
            allowed=self._mind.require_enabled,
            errors=(
                ErrorCode.INVALID_INPUT,
                ErrorCode.FORBIDDEN,
                ErrorCode.CONFLICT,
                ErrorCode.OPERATION_FAILED,
                ErrorCode.RATE_LIMITED,
            ),
        )

    def _intent_operations(self) -> list[Operation]:
        path, unreadable = "/api/sessions/{id}/intent", (ErrorCode.OPERATION_FAILED,)
        return [
            Operation(
                method="GET",
                path=path,
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.get_intent,
                summary="Get the owner's intent for the session's workspace",
                tag="Intent",
                response_model=IntentEnvelope,
                errors=unreadable,
            ),
            Operation(
                method="PUT",
                path=path,
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                handler=self.replace_intent,
                summary="Replace the complete intent",
                tag="Intent",
                body=IntentBody,
                response_model=IntentEnvelope,
                errors=unreadable,
            ),
            Operation(
                method="DELETE",
                path=path,
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                audit=AuditMode.EACH,
                handler=self.delete_intent,
                summary="Remove the intent",
                tag="Intent",
                response_model=IntentDeletedResponse,
                errors=unreadable,
            ),
        ]

    async def make_suggestions(self, call: OperationCall) -> SuggestionsResponse:
        """Run the session's agent CLI once and return its suggestions."""
        body: SuggestBody = call.body
        found = await self._mind.suggest_prompts(
            call.id,
            granted=call.identity.can_bypass_permissions,
            steer=body.steer or "",
            rejected=body.rejected or (),
            reauthorize=call.reauthorize,
        )
        return SuggestionsResponse(
            suggestions=[make_suggestion_response(each) for each in found["suggestions"]],
            duration_ms=found["ended"] - found["began"],
        )

    async def get_intent(self, call: OperationCall) -> IntentEnvelope:
        """Return the stored intent for a session's owner and workspace."""
        return make_intent_response(await self._intents.find_intent(call.id))

    async def replace_intent(self, call: OperationCall) -> IntentEnvelope:
        """Replace the stored intent for a session's owner and workspace."""
        intent = await self._intents.set_goals(call.id, call.body.goals, call.reauthorize)
        return make_intent_response(intent)

    async def delete_intent(self, call: OperationCall) -> IntentDeletedResponse:
        """Delete the stored intent for a session's owner and workspace."""
        return IntentDeletedResponse(
            deleted=await self._intents.delete_intent(call.id, call.reauthorize)
        )
