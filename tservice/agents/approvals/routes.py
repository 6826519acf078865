"""Routes of the approval inbox (protocol-approvals)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.approvals.answer_steps import MOST, TEXT_LENGTH, AnswerAction, parse_answer
from tservice.agents.approvals.responses import ApprovalItemResponse
from tservice.agents.approvals.service import ApprovalService
from tservice.core.kernel.errors import ErrorCode
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import RequestBody, ResponseModel

TAG = "Approvals"
Number = Annotated[int, Field(ge=1, le=MOST)]


class AnswerBody(RequestBody):
    """Choice of a person."""

    action: Annotated[AnswerAction, Field(strict=False)]
    option: Number | None = None
    options: Annotated[tuple[Number, ...], Field(strict=False, max_length=MOST)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH)] | None = None
    expect_frame: Annotated[str, Field(max_length=128)] | None = None
    reason: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=TEXT_LENGTH,
                description="For action deny: the reason, which the agent reads and continues with",
            ),
        ]
        | None
    ) = None


class ApprovalListResponse(ResponseModel):
    """Pending items, oldest first."""

    approvals: list[ApprovalItemResponse]


class ApprovalAnsweredResponse(ResponseModel):
    """Action that was carried out."""

    id: str
    session_id: str
    action: AnswerAction


class ApprovalDismissedResponse(ResponseModel):
    """Item that was dismissed."""

    id: str


class SessionViewedResponse(ResponseModel):
    """Idle item that was acknowledged, if there was one."""

    session_id: str
    acknowledged: str | None


_APPROVALS = OperationFields(
    tag=TAG,
    access=AccessRule.USER,
    scope=Scope.APPROVALS,
    scope_reason="Reads and dismisses the questions of agents.",
)


class ApprovalRoutes:
    """Operations below C{/api/approvals}."""

    def __init__(self, approvals: ApprovalService) -> None:
        self._approvals = approvals

    @operation("GET", "/api/approvals", _APPROVALS)
    async def list_items(self, call: OperationCall) -> ApprovalListResponse:
        """List the items that wait for a person, checked against the terminals."""
        return ApprovalListResponse(approvals=await self._approvals.list_checked(call.caller))

    @operation(
        "POST",
        "/api/approvals/{item}/answer",
        _APPROVALS,
        scope_reason="An answer lets an agent run the command that it asked for.",
        errors=(
            ErrorCode.NOT_FOUND,
            ErrorCode.CONFLICT,
            ErrorCode.FORBIDDEN,
            ErrorCode.OPERATION_FAILED,
        ),
    )
    async def answer_item(self, call: OperationCall, body: AnswerBody) -> ApprovalAnsweredResponse:
        """Answer a dialog or an idle prompt."""
        answer = parse_answer(
            body.action, body.option, body.options, body.text, body.expect_frame, body.reason
        )
        item = await self._approvals.answer_item(call.path["item"], answer, call.caller)
        return ApprovalAnsweredResponse(id=item.id, session_id=item.session_id, action=body.action)

    @operation(
        "POST",
        "/api/approvals/{item}/dismiss",
        _APPROVALS,
        errors=(
            ErrorCode.NOT_FOUND,
            ErrorCode.CONFLICT,
            ErrorCode.FORBIDDEN,
            ErrorCode.OPERATION_FAILED,
        ),
    )
    async def dismiss_item(self, call: OperationCall) -> ApprovalDismissedResponse:
        """Dismiss an item of the inbox."""
        return ApprovalDismissedResponse(
            id=self._approvals.dismiss_item(call.path["item"], call.caller).id
        )

    @operation(
        "POST",
        "/api/approvals/session/{id}/viewed",
        _APPROVALS,
        access=AccessRule.OWNER,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
    )
    async def mark_viewed(self, call: OperationCall) -> SessionViewedResponse:
        """Acknowledge a session's idle prompt."""
        found = self._approvals.mark_viewed(call.id, call.caller)
        return SessionViewedResponse(session_id=call.id, acknowledged=found)
