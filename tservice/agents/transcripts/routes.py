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
from tservice.core.errors import ErrorCode
from tservice.http.models import QueryInt, QueryParameters
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope

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


class TranscriptRoutes:
    """Operations C{last-response}, and those below C{/api/history}."""

    def __init__(self, transcripts: TranscriptService, history: ConversationHistory) -> None:
        self._transcripts = transcripts
        self._history = history

    def build_operations(self) -> list[Operation]:
        """Return the operations."""
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/last-response",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.get_last_response,
                summary="Get the agent's last response, from its own transcript",
                tag="Sessions",
                query=ResponseQuery,
                response_model=LastAnswerResponse,
            ),
            Operation(
                method="GET",
                path="/api/history/sessions",
                access=AccessRule.USER,
                handler=self.list_history,
                summary="List past conversations on disk, newest first",
                tag="Sessions",
                query=HistoryQuery,
                response_model=ConversationListResponse,
            ),
            Operation(
                method="GET",
                path="/api/history/sessions/{conversation}",
                access=AccessRule.USER,
                handler=self.read_transcript,
                summary="Get the last messages of a past conversation",
                tag="Sessions",
                query=TranscriptQuery,
                response_model=TranscriptResponse,
                errors=(ErrorCode.NOT_FOUND,),
            ),
        ]

    async def get_last_response(self, call: OperationCall) -> LastAnswerResponse:
        whole = call.query.context == "full"
        found = await self._transcripts.get_last_response(call.id, whole=whole)
        return LastAnswerResponse.model_validate(found)

    async def list_history(self, call: OperationCall) -> ConversationListResponse:
        query: HistoryQuery = call.query
        if query.q is None:
            return await self._history.list_conversations(call.identity, query.limit, query.offset)
        return await self._history.search_conversations(
            call.identity, query.q, query.limit, query.offset
        )

    async def read_transcript(self, call: OperationCall) -> TranscriptResponse:
        conversation = call.path["conversation"]
        return await self._history.read_transcript(call.identity, call.query.mode, conversation)
