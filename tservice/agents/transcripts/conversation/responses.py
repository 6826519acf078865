"""Response models of conversations' items (protocol-conversation)."""

from __future__ import annotations

from typing import Any, Literal

from tservice.agents.transcripts.conversation.items import ConversationItem, FileDiff, ToolCall
from tservice.agents.transcripts.conversation.pages import ConversationPage
from tservice.agents.transcripts.conversation.service import SessionPage
from tservice.agents.transcripts.responses import ConversationResponse
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none


class DiffHunkResponse(Payload):
    """Changed part of a file; each line begins with a blank, C{+} or C{-}.

    @ivar old_start: first line in the old file; 0 if the agent does not record it.
    """

    old_start: int
    new_start: int
    lines: list[str]


class ToolDiffResponse(Payload):
    """Change of one file."""

    path: str
    added: int
    removed: int
    hunks: list[DiffHunkResponse]


class ToolCallResponse(Payload):
    """Call of a tool, and its result.

    @ivar name: the agent's own name of the tool.
    @ivar title: one line for people.
    @ivar branch: id of the conversation of the sub-agent that the call began.
    """

    name: str
    title: str
    input: dict[str, Any]
    status: Literal["running", "done", "failed", "denied"]
    output: str | None = omit_if_none()
    exit_code: int | None = omit_if_none()
    duration_ms: int | None = omit_if_none()
    diffs: list[ToolDiffResponse] | None = omit_if_none()
    branch: str | None = omit_if_none()


class ItemTokensResponse(Payload):
    """Tokens of the model's answer that an item begins."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class ItemTodoResponse(Payload):
    """Entry of a to-do list."""

    text: str
    status: str


class ItemAttachmentResponse(Payload):
    """Image; C{data} is base64, and only in an item that is requested alone."""

    media_type: str
    data: str | None = omit_if_none()


class ConversationItemResponse(Payload):
    """Prompt, answer, thought, tool call or notice.

    @ivar order: position in the conversation.
    @ivar at: Unix milliseconds.
    @ivar turn: id of the prompt that began the turn.
    @ivar parent_id: id of the call whose sub-agent wrote the item.
    @ivar cost: dollars.
    @ivar state: state of a prompt that waited in the agent's queue.
    @ivar cut: the item alone has more text.
    """

    id: str
    order: int
    at: int | None
    turn: str | None
    role: Literal["user", "assistant", "system"]
    kind: Literal["text", "thinking", "tool", "todo", "question", "notice", "error", "compaction"]
    text: str | None = omit_if_none()
    tool: ToolCallResponse | None = omit_if_none()
    parent_id: str | None = omit_if_none()
    model: str | None = omit_if_none()
    tokens: ItemTokensResponse | None = omit_if_none()
    cost: float | None = omit_if_none()
    state: Literal["queued", "sent", "withdrawn"] | None = omit_if_none()
    todos: list[ItemTodoResponse] | None = omit_if_none()
    attachments: list[ItemAttachmentResponse] | None = omit_if_none()
    cut: bool = omit_if_false()


class ConversationSourceResponse(Payload):
    """Conversation that the items are from.

    @ivar id: the agent's own id of it.
    @ivar earlier: ids of the session's earlier conversations, oldest first.
    @ivar cut: its beginning is too long ago to be read.
    """

    id: str | None
    mode: str
    earlier: list[str]
    cut: bool = omit_if_false()


class ConversationPageResponse(Payload):
    """Items in the order of the conversation.

    @ivar cursor: C{after} of the next request; C{null} if the agent has recorded nothing yet.
    @ivar before: C{before} for the page before this one; C{null} without one.
    @ivar has_more: there are items before these; with C{after}, there are further changes.
    @ivar reset: the content of C{after} is gone, and the newest page is returned instead.
    @ivar live: changes are sent as C{session:conversation}.
    """

    items: list[ConversationItemResponse]
    cursor: str | None
    before: int | None
    has_more: bool
    source: ConversationSourceResponse | None
    live: bool
    reset: bool = omit_if_false()


class StoredPageResponse(Payload):
    """Items of a stored conversation; see L{ConversationPageResponse}."""

    session: ConversationResponse
    items: list[ConversationItemResponse]
    cursor: str
    before: int | None
    has_more: bool
    reset: bool = omit_if_false()
    cut: bool = omit_if_false()


class ConversationItemEnvelope(Payload):
    """Whole item."""

    item: ConversationItemResponse


def make_session_page(found: SessionPage) -> ConversationPageResponse:
    """Return a page of a session's conversation as a response."""
    page = found.page
    if page is None:
        return ConversationPageResponse(
            items=[], cursor=None, before=None, has_more=False, source=None, live=found.live
        )
    return ConversationPageResponse(
        **_make_page(page),
        source=ConversationSourceResponse(
            id=found.conversation, mode=found.mode, earlier=list(found.earlier), cut=page.is_cut
        ),
        live=found.live,
    )


def make_stored_page(session: ConversationResponse, page: ConversationPage) -> StoredPageResponse:
    """Return a page of a stored conversation as a response."""
    return StoredPageResponse(**_make_page(page), session=session, cut=page.is_cut)


def make_item_response(item: ConversationItem) -> ConversationItemResponse:
    """Return an item as a response."""
    return ConversationItemResponse(
        id=item.id,
        order=item.order,
        at=item.at,
        turn=item.turn,
        role=item.role.value,
        kind=item.kind.value,
        text=item.text,
        tool=None if item.tool is None else _make_tool(item.tool),
        parent_id=item.parent_id,
        model=item.model,
        tokens=None
        if item.tokens is None
        else ItemTokensResponse(
            input=item.tokens.input,
            output=item.tokens.output,
            cache_read=item.tokens.cache_read,
            cache_write=item.tokens.cache_write,
        ),
        cost=item.cost,
        state=None if item.state is None else item.state.value,
        todos=None
        if item.todos is None
        else [ItemTodoResponse(text=text, status=status) for text, status in item.todos],
        attachments=[
            ItemAttachmentResponse(media_type=each.media_type, data=each.data)
            for each in item.attachments
        ]
        or None,
        cut=item.cut,
    )


def _make_page(page: ConversationPage) -> dict[str, Any]:
    items = [make_item_response(each) for each in page.items]
    return {
        "items": items,
        "cursor": page.cursor,
        "before": items[0].order if items and page.has_more else None,
        "has_more": page.has_more,
        "reset": page.is_reset,
    }


def _make_tool(tool: ToolCall) -> ToolCallResponse:
    return ToolCallResponse(
        name=tool.name,
        title=tool.title,
        input=dict(tool.input),
        status=tool.status.value,
        output=tool.output,
        exit_code=tool.exit_code,
        duration_ms=tool.duration_ms,
        diffs=[_make_diff(each) for each in tool.diffs] or None,
        branch=tool.branch,
    )


def _make_diff(diff: FileDiff) -> ToolDiffResponse:
    return ToolDiffResponse(
        path=diff.path,
        added=diff.added,
        removed=diff.removed,
        hunks=[
            DiffHunkResponse(
                old_start=hunk.old_start,
                new_start=hunk.new_start,
                lines=list(hunk.lines),
            )
            for hunk in diff.hunks
        ],
    )
