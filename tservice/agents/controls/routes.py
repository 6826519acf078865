"""Routes for model, effort and permission mode of a running agent (protocol-controls)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from tservice.agents.controls.service import AgentControls, ControlSetting
from tservice.core.errors import ErrorCode
from tservice.http.models import RequestBody, ResponseModel
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

Word = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class ModelBody(RequestBody):
    """The model, by a name that the agent knows."""

    model: Word


class EffortBody(RequestBody):
    """One of the agent's levels."""

    effort: Word


class PermissionModeBody(RequestBody):
    """One of the agent's modes."""

    permission_mode: Word


class ModelAnswer(ResponseModel):
    """The model as the agent calls it."""

    model: str


class EffortAnswer(ResponseModel):
    """The level that the agent told."""

    effort: str


class PermissionModeAnswer(ResponseModel):
    """The mode that the screen shows."""

    permission_mode: str


class ControlRoutes:
    """Operations on the three properties that the agent itself keeps."""

    def __init__(self, controls: AgentControls) -> None:
        self._controls = controls

    def operations(self) -> list[Operation]:
        """Return the operations."""
        return [
            _put("model", self.model, "Another model for a running agent", ModelBody, ModelAnswer),
            _put("effort", self.effort, "Another effort of it", EffortBody, EffortAnswer),
            _put(
                "permission-mode",
                self.permission_mode,
                "Another permission mode of it",
                PermissionModeBody,
                PermissionModeAnswer,
            ),
        ]

    async def model(self, call: OperationCall) -> ModelAnswer:
        """Set the model."""
        return ModelAnswer(model=await self._tell(call, ControlSetting.MODEL, call.body.model))

    async def effort(self, call: OperationCall) -> EffortAnswer:
        """Set the effort."""
        return EffortAnswer(effort=await self._tell(call, ControlSetting.EFFORT, call.body.effort))

    async def permission_mode(self, call: OperationCall) -> PermissionModeAnswer:
        """Set the permission mode."""
        asked = call.body.permission_mode
        told = await self._tell(call, ControlSetting.PERMISSION_MODE, asked)
        return PermissionModeAnswer(permission_mode=told)

    async def _tell(self, call: OperationCall, setting: ControlSetting, value: str) -> str:
        return await self._controls.tell(call.id, setting, value, call.identity, call.reauthorize)


def _put(
    name: str, handler: Handler, summary: str, body: type[BaseModel], answer: type[BaseModel]
) -> Operation:
    return Operation(
        method="PUT",
        path=f"/api/sessions/{{id}}/{name}",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_INPUT,
        handler=handler,
        summary=summary,
        tag="Sessions",
        body=body,
        response_model=answer,
        errors=(
            ErrorCode.INVALID_INPUT,
            ErrorCode.FORBIDDEN,
            ErrorCode.CONFLICT,
            ErrorCode.OPERATION_FAILED,
        ),
    )
