"""Routes of the approval inbox (protocol-approvals)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.approvals.answers import MOST, TEXT_LENGTH, Action, check_form
from tservice.agents.approvals.service import Approvals
from tservice.agents.approvals.shown import ItemAnswer
from tservice.core.errors import ErrorCode
from tservice.http.models import RequestBody, ResponseModel
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope

TAG = "Approvals"
Number = Annotated[int, Field(ge=1, le=MOST)]


class AnswerBody(RequestBody):
    """What a person chose."""

    action: Annotated[Action, Field(strict=False)]
    option: Number | None = None
    options: Annotated[tuple[Number, ...], Field(strict=False, max_length=MOST)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=TEXT_LENGTH)] | None = None
    expect_frame: Annotated[str, Field(max_length=128)] | None = None


class ItemsAnswer(ResponseModel):
    """The pending items, oldest first."""

    approvals: list[ItemAnswer]


class AnsweredAnswer(ResponseModel):
    """What was done."""

    id: str
    session_id: str
    action: Action


class DismissedAnswer(ResponseModel):
    """The item that was taken away."""

    id: str


class ViewedAnswer(ResponseModel):
    """The idle item that was acknowledged, if there was one."""

    session_id: str
    acknowledged: str | None


class ApprovalRoutes:
    """Operations below C{/api/approvals}."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    def operations(self) -> list[Operation]:
        """Return the operations of protocol-approvals."""
        path = "/api/approvals"
        gone = (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.FORBIDDEN)
        return [
            Operation(
                method="GET",
                path=path,
                access=AccessRule.USER,
                scope=Scope.APPROVALS,
                handler=self.list,
                summary="What waits for a person, checked against the terminals",
                tag=TAG,
                response_model=ItemsAnswer,
            ),
            Operation(
                method="POST",
                path=f"{path}/{{item}}/answer",
                access=AccessRule.USER,
                scope=Scope.APPROVALS,
                handler=self.answer,
                summary="Answer a dialog or an idle prompt",
                tag=TAG,
                body=AnswerBody,
                response_model=AnsweredAnswer,
                errors=(*gone, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path=f"{path}/{{item}}/dismiss",
                access=AccessRule.USER,
                scope=Scope.APPROVALS,
                handler=self.dismiss,
                summary="Take an item out of the inbox",
                tag=TAG,
                response_model=DismissedAnswer,
                errors=(*gone, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path=f"{path}/session/{{id}}/viewed",
                access=AccessRule.OWNER,
                scope=Scope.APPROVALS,
                handler=self.viewed,
                summary="Acknowledge a session's idle prompt",
                tag=TAG,
                response_model=ViewedAnswer,
                errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
            ),
        ]

    async def list(self, call: OperationCall) -> ItemsAnswer:
        return ItemsAnswer(approvals=await self._approvals.list(call.identity))

    async def answer(self, call: OperationCall) -> AnsweredAnswer:
        body: AnswerBody = call.body
        answer = check_form(body.action, body.option, body.options, body.text, body.expect_frame)
        item = await self._approvals.answer(
            call.path["item"], answer, call.identity, call.reauthorize
        )
        return AnsweredAnswer(id=item.id, session_id=item.session_id, action=body.action)

    async def dismiss(self, call: OperationCall) -> DismissedAnswer:
        return DismissedAnswer(id=self._approvals.dismiss(call.path["item"], call.identity).id)

    async def viewed(self, call: OperationCall) -> ViewedAnswer:
        found = self._approvals.viewed(call.id, call.identity)
        return ViewedAnswer(session_id=call.id, acknowledged=found)
