"""Routes of comments and of the review that sends them (protocol-review-comments)."""

from __future__ import annotations

from typing import Annotated

from attrs import evolve
from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.core.kernel.scopes import READS_GIT, TYPES
from tservice.core.values.failfast import FAIL_FAST
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, Scope
from tservice.http.validation.models import ENUM_MEMBER, RequestBody
from tservice.review.comment_model import (
    MAX_COMMENTS,
    TEXT_LENGTH,
    CommentSide,
    CommentState,
    ReplyState,
)
from tservice.review.comments import CommentChange, CommentRequest, CommentService, SendRequest
from tservice.review.responses import (
    CommentEnvelope,
    CommentListResponse,
    SentReviewResponse,
    make_comment_response,
)
from tservice.review.routes import Base, Path, Repo, ReviewEmptyResponse, RowNumber

CommentText = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_LENGTH, pattern=r"\S")]
Suggestion = Annotated[str, StringConstraints(max_length=TEXT_LENGTH)]
CommentId = Annotated[str, StringConstraints(min_length=1, max_length=64)]

_COMMENTS = OperationFields(
    tag="Review", access=AccessRule.OWNER, scope=Scope.SESSIONS_INPUT, scope_reason=TYPES,
    errors=(ErrorCode.OPERATION_FAILED, ErrorCode.CONFLICT),
)  # fmt: skip


class CommentBody(RequestBody):
    """New comment on lines of a changed file; without C{endLine} on one line.

    C{suggestion} is text that could replace the lines.
    """

    repo: Repo | None = None
    path: Path
    side: Annotated[CommentSide, Field(strict=False), ENUM_MEMBER] = CommentSide.NEW
    line: RowNumber
    end_line: RowNumber | None = None
    text: CommentText
    suggestion: Suggestion | None = None
    base: Base | None = None

    def to_request(self) -> CommentRequest:
        """Return the request of this body.

        @raise ServiceError: 400 if the lines are in the wrong order.
        """
        end_line = self.line if self.end_line is None else self.end_line
        if end_line < self.line:
            raise make_field_error("endLine", "must not be before line")
        return CommentRequest(
            repo=self.repo, path=self.path, side=self.side, line=self.line, end_line=end_line,
            text=self.text, suggestion=self.suggestion, base=self.base,
        )  # fmt: skip


class CommentPatch(RequestBody):
    """Change of a comment: its text while it is open, or its state, C{open} or C{resolved}.

    An empty C{suggestion} removes it.
    """

    text: CommentText | None = None
    suggestion: Suggestion | None = None
    state: Annotated[CommentState, Field(strict=False), ENUM_MEMBER] | None = None

    def to_change(self) -> CommentChange:
        """Return the change of this body.

        @raise ServiceError: 400 for the state C{sent}, which only sending gives.
        """
        if self.state is CommentState.SENT:
            raise make_field_error("state", "must be open or resolved")
        change = CommentChange(text=self.text, state=self.state)
        if self.suggestion == "":
            return evolve(change, clears_suggestion=True)
        return evolve(change, suggestion=self.suggestion)


class SendReviewBody(RequestBody):
    """Comments to send, all open ones by default, and a text for the agent."""

    comment_ids: (
        Annotated[list[CommentId], Field(min_length=1, max_length=MAX_COMMENTS), FAIL_FAST] | None
    ) = None
    note: Annotated[str, StringConstraints(max_length=TEXT_LENGTH)] = ""
    even_while_busy: bool = False


class ReplyBody(RequestBody):
    """Answer to a comment that was sent."""

    state: Annotated[ReplyState, Field(strict=False), ENUM_MEMBER]
    text: Annotated[str, StringConstraints(max_length=TEXT_LENGTH)] = ""


class CommentRoutes:
    """Routes of comments; the rules are in L{CommentService}."""

    def __init__(self, comments: CommentService) -> None:
        self._comments = comments

    @operation(
        "GET", "/api/sessions/{id}/comments", _COMMENTS,
        scope=Scope.GIT, scope_reason=READS_GIT, for_agent_itself=True,
    )  # fmt: skip
    async def list_comments(self, call: OperationCall) -> CommentListResponse:
        """List the comments on a session's changes, with the places of their lines now."""
        found = await self._comments.list_comments(call.id)
        return CommentListResponse(comments=[make_comment_response(each) for each in found])

    @operation("POST", "/api/sessions/{id}/comments", _COMMENTS)
    async def create_comment(self, call: OperationCall, body: CommentBody) -> CommentEnvelope:
        """Comment on lines of a changed file. Nothing is sent yet."""
        made = await self._comments.create_comment(call.id, body.to_request(), call.caller)
        return CommentEnvelope(comment=make_comment_response(made))

    @operation("PATCH", "/api/sessions/{id}/comments/{comment}", _COMMENTS)
    async def update_comment(self, call: OperationCall, body: CommentPatch) -> CommentEnvelope:
        """Change an open comment, or resolve or reopen one."""
        comment_id = call.path["comment"]
        changed = await self._comments.update_comment(call.id, comment_id, body.to_change())
        return CommentEnvelope(comment=make_comment_response(changed))

    @operation("DELETE", "/api/sessions/{id}/comments/{comment}", _COMMENTS)
    async def delete_comment(self, call: OperationCall) -> ReviewEmptyResponse:
        """Delete a comment."""
        self._comments.delete_comment(call.id, call.path["comment"])
        return ReviewEmptyResponse()

    @operation(
        "POST", "/api/sessions/{id}/comments/{comment}/reply", _COMMENTS,
        scope_reason="Answers a comment that was sent to the agent.",
        for_agent_itself=True, audit=AuditMode.SUMMED,
    )  # fmt: skip
    async def reply(self, call: OperationCall, body: ReplyBody) -> ReviewEmptyResponse:
        """Answer a comment, for the agent that got it."""
        self._comments.reply_to_comment(call.id, call.path["comment"], body.state, body.text)
        return ReviewEmptyResponse()

    @operation(
        "POST", "/api/sessions/{id}/review/send", _COMMENTS,
        errors=(ErrorCode.SESSION_BUSY, ErrorCode.PAYLOAD_TOO_LARGE),
    )  # fmt: skip
    async def send_review(self, call: OperationCall, body: SendReviewBody) -> SentReviewResponse:
        """Send open comments to the agent as one prompt, typed exactly once."""
        wanted = SendRequest(
            comment_ids=body.comment_ids, note=body.note, even_while_busy=body.even_while_busy
        )
        sent = await self._comments.send_comments(call.id, wanted, call.caller)
        return SentReviewResponse(
            comment_ids=[comment.id for comment in sent.comments],
            delivered=sent.delivery.delivered,
            buffered=sent.delivery.buffered,
        )
