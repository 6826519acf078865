"""Operations C{/api/sessions/:id/readmymind} and C{/intent}."""

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
from tservice.mind.intents import Intents
from tservice.mind.model import GOALS
from tservice.mind.predict import Mind
from tservice.mind.shown import (
    ForgottenAnswer,
    OneIntentAnswer,
    SuggestionsAnswer,
    intent_answer,
    suggestion_answer,
)

STEER = 2000
REJECTED, REJECTED_TEXT = 10, 1000

Goals = Annotated[str, StringConstraints(max_length=GOALS)]
Rejected = Annotated[str, StringConstraints(max_length=REJECTED_TEXT)]


class SuggestBody(RequestBody):
    """What another guess is to heed; both absent for the first."""

    steer: Annotated[str, StringConstraints(max_length=STEER)] | None = None
    rejected: Annotated[list[Rejected], Field(max_length=REJECTED), FAIL_FAST] | None = None


class IntentBody(RequestBody):
    """The whole of an intent."""

    goals: Goals


class MindRoutes:
    """Operations of suggestions and intents; the rules are in L{Mind} and L{Intents}."""

    def __init__(self, mind: Mind, intents: Intents) -> None:
        self._mind, self._intents = mind, intents

    def operations(self) -> list[Operation]:
        """Return the operations of this class."""
        return [self._suggests(), *self._of_intents()]

    def _suggests(self) -> Operation:
        return Operation(
            method="POST",
            path="/api/sessions/{id}/readmymind",
            access=AccessRule.OWNER,
            scope=Scope.SESSIONS_INPUT,
            style=ResponseStyle.LONG_POLL,
            handler=self.suggest,
            summary="Suggest what to say next; nothing is sent to the session",
            tag="Intent",
            body=SuggestBody,
            optional_body=True,
            response_model=SuggestionsAnswer,
            allowed=self._mind.require_enabled,
            errors=(
                ErrorCode.INVALID_INPUT,
                ErrorCode.FORBIDDEN,
                ErrorCode.CONFLICT,
                ErrorCode.OPERATION_FAILED,
                ErrorCode.RATE_LIMITED,
            ),
        )

    def _of_intents(self) -> list[Operation]:
        path, unreadable = "/api/sessions/{id}/intent", (ErrorCode.OPERATION_FAILED,)
        return [
            Operation(
                method="GET",
                path=path,
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.read,
                summary="What the session's owner wants in its workspace",
                tag="Intent",
                response_model=OneIntentAnswer,
                errors=unreadable,
            ),
            Operation(
                method="PUT",
                path=path,
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                handler=self.write,
                summary="Replace the whole intent",
                tag="Intent",
                body=IntentBody,
                response_model=OneIntentAnswer,
                errors=unreadable,
            ),
            Operation(
                method="DELETE",
                path=path,
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                audit=AuditMode.EACH,
                handler=self.delete,
                summary="Forget the intent",
                tag="Intent",
                response_model=ForgottenAnswer,
                errors=unreadable,
            ),
        ]

    async def suggest(self, call: OperationCall) -> SuggestionsAnswer:
        """Ask the session's CLI for suggestions."""
        body: SuggestBody = call.body
        found = await self._mind.suggest(
            call.id,
            granted=call.identity.can_bypass_permissions,
            steer=body.steer or "",
            rejected=body.rejected or (),
            again=call.reauthorize,
        )
        return SuggestionsAnswer(
            suggestions=[suggestion_answer(each) for each in found["suggestions"]],
            duration_ms=found["ended"] - found["began"],
        )

    async def read(self, call: OperationCall) -> OneIntentAnswer:
        """Return the intent."""
        return intent_answer(await self._intents.read(call.id))

    async def write(self, call: OperationCall) -> OneIntentAnswer:
        """Replace the intent."""
        intent = await self._intents.set_goals(call.id, call.body.goals, call.reauthorize)
        return intent_answer(intent)

    async def delete(self, call: OperationCall) -> ForgottenAnswer:
        """Delete the intent."""
        return ForgottenAnswer(deleted=await self._intents.delete(call.id, call.reauthorize))
