"""Routes that read conversations as items (protocol-conversation)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.agents.transcripts.conversation.pages import PAGE, PageRequest
from tservice.agents.transcripts.conversation.responses import (
    ConversationItemEnvelope,
    ConversationPageResponse,
    StoredPageResponse,
    make_item_response,
    make_session_page,
    make_stored_page,
)
from tservice.agents.transcripts.conversation.service import ConversationService
from tservice.agents.transcripts.history import ConversationHistory
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SESSIONS
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryInt, QueryParameters

Branch = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]


class BranchQuery(QueryParameters):
    """Conversation of a sub-agent."""

    branch: Branch | None = Field(default=None, description="``tool.branch`` of a call")


class PageQuery(BranchQuery):
    """Part of the conversation to return; the newest items without C{after} and C{before}."""

    after: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="``cursor`` of an earlier response"
    )
    before: Annotated[QueryInt, Field(ge=0)] | None = Field(
        default=None, description="``before`` of an earlier response"
    )
    limit: Annotated[QueryInt, Field(ge=1, le=PAGE)] = 100

    def make_request(self) -> PageRequest:
        """Return the part as the readers take it."""
        return PageRequest(after=self.after, before=self.before, limit=self.limit)


class StoredPageQuery(PageQuery):
    """Agent that the conversation belongs to, and the part to return."""

    mode: str


class StoredItemQuery(BranchQuery):
    """Agent that the conversation belongs to."""

    mode: str


_SESSION = OperationFields(
    tag="Sessions",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_READ,
    scope_reason=READS_SESSIONS,
    errors=(ErrorCode.NOT_FOUND,),
)
_HISTORY = OperationFields(
    tag="Sessions",
    access=AccessRule.USER,
    scope_reason=(
        "Conversations of every folder, even from before the service, are only for the user."
    ),
    errors=(ErrorCode.NOT_FOUND,),
)


class ConversationRoutes:
    """Operations of the items of conversations."""

    def __init__(self, conversations: ConversationService, history: ConversationHistory) -> None:
        self._conversations = conversations
        self._history = history

    @operation("GET", "/api/sessions/{id}/conversation", _SESSION)
    async def read_conversation(
        self, call: OperationCall, query: PageQuery
    ) -> ConversationPageResponse:
        """Get items of the conversation of a session's agent, and follow it for ten minutes."""
        found = await self._conversations.read_page(call.id, query.make_request(), query.branch)
        return make_session_page(found)

    @operation("GET", "/api/sessions/{id}/conversation/items/{item}", _SESSION)
    async def read_item(self, call: OperationCall, query: BranchQuery) -> ConversationItemEnvelope:
        """Get a whole item of the conversation of a session's agent."""
        found = await self._conversations.read_item(call.id, call.path["item"], query.branch)
        return ConversationItemEnvelope(item=make_item_response(found))

    @operation("GET", "/api/history/sessions/{conversation}/conversation", _HISTORY)
    async def read_stored_conversation(
        self, call: OperationCall, query: StoredPageQuery
    ) -> StoredPageResponse:
        """Get items of a past conversation."""
        session, page = await self._history.read_page(
            call.caller,
            query.mode,
            call.path["conversation"],
            query.make_request(),
            query.branch,
        )
        return make_stored_page(session, page)

    @operation("GET", "/api/history/sessions/{conversation}/conversation/items/{item}", _HISTORY)
    async def read_stored_item(
        self, call: OperationCall, query: StoredItemQuery
    ) -> ConversationItemEnvelope:
        """Get a whole item of a past conversation."""
        found = await self._history.read_item(
            call.caller,
            query.mode,
            call.path["conversation"],
            call.path["item"],
            query.branch,
        )
        return ConversationItemEnvelope(item=make_item_response(found))
