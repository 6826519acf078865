"""The routes that read transcripts (protocol-conversations)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tservice.agents.transcripts.history import History
from tservice.agents.transcripts.service import Transcripts
from tservice.core.payload import absent
from tservice.http.models import Answer, Query, QueryInt
from tservice.http.operations import Access, Call, Operation, Scope

PAGE = 100
"""Conversations of one answer at most (protocol-conversations)."""


class ResponseQuery(Query):
    """How much to tell."""

    context: Literal["full"] | None = None


class HistoryQuery(Query):
    """Which part of the list."""

    limit: Annotated[QueryInt, Field(ge=1, le=PAGE)] = 50
    offset: Annotated[QueryInt, Field(ge=0)] = 0


class MessageAnswer(Answer):
    """Something that one side said."""

    role: Literal["user", "assistant"]
    text: str
    timestamp: int | None


class ResponseAnswer(Answer):
    """The agent's last answer; an empty text and no time before the first."""

    text: str
    timestamp: int | None
    messages: list[MessageAnswer] | None = absent()


class ConversationAnswer(Answer):
    """A conversation on disk."""

    id: str
    mode: str
    updated_at: int
    size: int
    working_dir: str | None = absent()
    title: str | None = absent()


class HistoryAnswer(Answer):
    """Conversations, newest first."""

    sessions: list[ConversationAnswer]
    total: int


class TranscriptRoutes:
    """C{last-response} and C{history}."""

    def __init__(self, transcripts: Transcripts, history: History) -> None:
        self._transcripts = transcripts
        self._history = history

    def operations(self) -> list[Operation]:
        """The operations."""
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/last-response",
                access=Access.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.last_response,
                summary="The agent's last answer, from its own transcript",
                tag="Sessions",
                query=ResponseQuery,
                answer=ResponseAnswer,
            ),
            Operation(
                method="GET",
                path="/api/history/sessions",
                access=Access.USER,
                handler=self.history,
                summary="Past conversations on disk, newest first",
                tag="Sessions",
                query=HistoryQuery,
                answer=HistoryAnswer,
            ),
        ]

    async def last_response(self, call: Call) -> ResponseAnswer:
        whole = call.query.context == "full"
        found = await self._transcripts.last_response(call.id, whole=whole)
        return ResponseAnswer.model_validate(found)

    async def history(self, call: Call) -> HistoryAnswer:
        query = call.query
        found = await self._history.list(call.identity, query.limit, query.offset)
        return HistoryAnswer.model_validate(found)
