"""Routes of the approval inbox (protocol-approvals)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.approvals.answer_steps import MOST, TEXT_LENGTH, AnswerAction, parse_answer
from tservice.agents.approvals.responses import ApprovalItemResponse
from tservice.agents.approvals.service import ApprovalService
from tservice.core.errors import ErrorCode
from tservice.http.models import RequestBody, ResponseModel
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope

TAG = "Approvals"
Number = Annotated[int, Field(ge=1, le=MOST)]


class AnswerBody(RequestBody):
    """Choice of a person."""

    action: Annotated[AnswerAction, Field(strict=False)]
    option: Number | None = None
    options: Annotated[tuple[Number, ...], Field(strict=False, max_length=MOST)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH)] | None = None
    expect_frame: Annotated[str, Field(max_length=128)] | None = None


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


class ApprovalRoutes:
    """Operations below C{/api/approvals}."""

    def __init__(self, approvals: ApprovalService) -> None:
        self._approvals = approvals

    def build_operations(self) -> list[Operation]:
        """Return the operations of protocol-approvals."""
        path = "/api/approvals"
        gone = (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.FORBIDDEN)
        return [
            Operation(
                method="GET",
                path=path,
                access=AccessRule.USER,
                scope=Scope.APPROVALS,
                handler=self.list_items,
                summary="List the items that wait for a person, checked against the terminals",
                tag=TAG,
                response_model=ApprovalListResponse,
            ),
            Operation(
                method="POST",
                path=f"{path}/{{item}}/answer",
                access=AccessRule.USER,
                scope=Scope.APPROVALS,
                handler=self.answer_item,
                summary="Answer a dialog or an idle prompt",
                tag=TAG,
                body=AnswerBody,
                response_model=ApprovalAnsweredResponse,
                errors=(*gone, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path=f"{path}/{{item}}/dismiss",
                access=AccessRule.USER,
                scope=Scope.APPROVALS,
                handler=self.dismiss_item,
                summary="Dismiss an item of the inbox",
                tag=TAG,
                response_model=ApprovalDismissedResponse,
                errors=(*gone, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path=f"{path}/session/{{id}}/viewed",
                access=AccessRule.OWNER,
                scope=Scope.APPROVALS,
                handler=self.mark_viewed,
                summary="Acknowledge a session's idle prompt",
                tag=TAG,
                response_model=SessionViewedResponse,
                errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
            ),
        ]

    async def list_items(self, call: OperationCall) -> ApprovalListResponse:
        return ApprovalListResponse(approvals=await self._approvals.list_checked(call.identity))

    async def answer_item(self, call: OperationCall) -> ApprovalAnsweredResponse:
        body: AnswerBody = call.body
        answer = parse_answer(body.action, body.option, body.options, body.text, body.expect_frame)
        item = await self._approvals.answer_item(
            call.path["item"], answer, call.identity, call.reauthorize
        )
        return ApprovalAnsweredResponse(id=item.id, session_id=item.session_id, action=body.action)

    async def dismiss_item(self, call: OperationCall) -> ApprovalDismissedResponse:
        return ApprovalDismissedResponse(
            id=self._approvals.dismiss_item(call.path["item"], call.identity).id
        )

    async def mark_viewed(self, call: OperationCall) -> SessionViewedResponse:
        found = self._approvals.mark_viewed(call.id, call.identity)
        return SessionViewedResponse(session_id=call.id, acknowledged=found)
