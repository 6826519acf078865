"""Routes that read transcripts (protocol-conversations)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.agents.transcripts.history import ConversationHistory
from tservice.agents.transcripts.responses import (
    ConversationListResponse,
    LastAnswerResponse,
    TranscriptResponse,
)
from tservice.agents.transcripts.service import TranscriptService
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SESSIONS
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryInt, QueryParameters

PAGE = 100
"""Maximum number of conversations in one response (protocol-conversations)."""
WORDS = 200
"""Maximum characters of a search text."""


class ResponseQuery(QueryParameters):
    """Amount of text to return."""

    context: Literal["full"] | None = None


class HistoryQuery(QueryParameters):
    """Part of the list to return."""

    limit: Annotated[QueryInt, Field(ge=1, le=PAGE)] = 50
    offset: Annotated[QueryInt, Field(ge=0)] = 0
    q: Annotated[str, StringConstraints(min_length=1, max_length=WORDS)] | None = Field(
        default=None, description="Words in the conversation, or in its folder's name"
    )


class TranscriptQuery(QueryParameters):
    """Agent that the conversation belongs to."""

    mode: str


_HISTORY = OperationFields(
    tag="Sessions",
    access=AccessRule.USER,
    scope_reason=(
        "Conversations of every folder, even from before the service, are only for the user."
    ),
)


class TranscriptRoutes:
    """Operations C{last-response}, and those below C{/api/history}."""

    def __init__(self, transcripts: TranscriptService, history: ConversationHistory) -> None:
        self._transcripts = transcripts
        self._history = history

    @operation(
        "GET",
        "/api/sessions/{id}/last-response",
        tag="Sessions",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_READ,
        scope_reason=READS_SESSIONS,
    )
    async def get_last_response(
        self, call: OperationCall, query: ResponseQuery
    ) -> LastAnswerResponse:
        """Get the agent's last response, from its own transcript."""
        whole = query.context == "full"
        found = await self._transcripts.get_last_response(call.id, whole=whole)
        return LastAnswerResponse.model_validate(found)

    @operation("GET", "/api/history/sessions", _HISTORY)
    async def list_history(
        self, call: OperationCall, query: HistoryQuery
    ) -> ConversationListResponse:
        """List past conversations on disk, newest first."""
        if query.q is None:
            return await self._history.list_conversations(call.caller, query.limit, query.offset)
        return await self._history.search_conversations(
            call.caller, query.q, query.limit, query.offset
        )

    @operation(
        "GET", "/api/history/sessions/{conversation}", _HISTORY, errors=(ErrorCode.NOT_FOUND,)
    )
    async def read_transcript(
        self, call: OperationCall, query: TranscriptQuery
    ) -> TranscriptResponse:
        """Get the last messages of a past conversation."""
        conversation = call.path["conversation"]
        return await self._history.read_transcript(call.caller, query.mode, conversation)
