"""Routes that read transcripts (protocol-conversations)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.agents.transcripts.history import History
from tservice.agents.transcripts.service import Transcripts
from tservice.agents.transcripts.shown import HistoryAnswer, ResponseAnswer, TranscriptAnswer
from tservice.core.errors import ErrorCode
from tservice.http.models import QueryInt, QueryParameters
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope

PAGE = 100
"""Maximum number of conversations in one response (protocol-conversations)."""
WORDS = 200
"""Maximum characters of a search text."""


class ResponseQuery(QueryParameters):
    """How much to tell."""

    context: Literal["full"] | None = None


class HistoryQuery(QueryParameters):
    """Which part of the list."""

    limit: Annotated[QueryInt, Field(ge=1, le=PAGE)] = 50
    offset: Annotated[QueryInt, Field(ge=0)] = 0
    q: Annotated[str, StringConstraints(min_length=1, max_length=WORDS)] | None = Field(
        default=None, description="Words that were said in it, or of its folder's name"
    )


class TranscriptQuery(QueryParameters):
    """Whose conversation it is."""

    mode: str


class TranscriptRoutes:
    """Operations C{last-response}, and those below C{history}."""

    def __init__(self, transcripts: Transcripts, history: History) -> None:
        self._transcripts = transcripts
        self._history = history

    def operations(self) -> list[Operation]:
        """Return the operations."""
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/last-response",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.last_response,
                summary="The agent's last answer, from its own transcript",
                tag="Sessions",
                query=ResponseQuery,
                response_model=ResponseAnswer,
            ),
            Operation(
                method="GET",
                path="/api/history/sessions",
                access=AccessRule.USER,
                handler=self.history,
                summary="Past conversations on disk, newest first",
                tag="Sessions",
                query=HistoryQuery,
                response_model=HistoryAnswer,
            ),
            Operation(
                method="GET",
                path="/api/history/sessions/{conversation}",
                access=AccessRule.USER,
                handler=self.transcript,
                summary="What was said last in a past conversation",
                tag="Sessions",
                query=TranscriptQuery,
                response_model=TranscriptAnswer,
                errors=(ErrorCode.NOT_FOUND,),
            ),
        ]

    async def last_response(self, call: OperationCall) -> ResponseAnswer:
        whole = call.query.context == "full"
        found = await self._transcripts.last_response(call.id, whole=whole)
        return ResponseAnswer.model_validate(found)

    async def history(self, call: OperationCall) -> HistoryAnswer:
        query: HistoryQuery = call.query
        if query.q is None:
            return await self._history.list(call.identity, query.limit, query.offset)
        return await self._history.search(call.identity, query.q, query.limit, query.offset)

    async def transcript(self, call: OperationCall) -> TranscriptAnswer:
        conversation = call.path["conversation"]
        return await self._history.transcript(call.identity, call.query.mode, conversation)
