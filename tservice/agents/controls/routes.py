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
    """Model, by a name that the agent knows."""

    model: Word


class EffortBody(RequestBody):
    """Effort level of the agent."""

    effort: Word


class PermissionModeBody(RequestBody):
    """Permission mode of the agent."""

    permission_mode: Word


class ModelSetResponse(ResponseModel):
    """Model, as the agent names it."""

    model: str


class EffortSetResponse(ResponseModel):
    """Level that the agent reported."""

    effort: str


class PermissionModeSetResponse(ResponseModel):
    """Mode that the screen shows."""

    permission_mode: str


class ControlRoutes:
    """Operations that change model, effort and permission mode of a running agent."""

    def __init__(self, controls: AgentControls) -> None:
        self._controls = controls

    def build_operations(self) -> list[Operation]:
        """Return the operations of protocol-controls."""
        return [
            _make_operation(
                "model",
                self.set_model,
                "Change the model of a running agent",
                ModelBody,
                ModelSetResponse,
            ),
            _make_operation(
                "effort",
                self.set_effort,
                "Change the effort level of a running agent",
                EffortBody,
                EffortSetResponse,
            ),
            _make_operation(
                "permission-mode",
                self.set_permission_mode,
                "Change the permission mode of a running agent",
                PermissionModeBody,
                PermissionModeSetResponse,
            ),
        ]

    async def set_model(self, call: OperationCall) -> ModelSetResponse:
        """Set the model."""
        return ModelSetResponse(
            model=await self._change_setting(call, ControlSetting.MODEL, call.body.model)
        )

    async def set_effort(self, call: OperationCall) -> EffortSetResponse:
        """Set the effort."""
        return EffortSetResponse(
            effort=await self._change_setting(call, ControlSetting.EFFORT, call.body.effort)
        )

    async def set_permission_mode(self, call: OperationCall) -> PermissionModeSetResponse:
        """Set the permission mode."""
        asked = call.body.permission_mode
        told = await self._change_setting(call, ControlSetting.PERMISSION_MODE, asked)
        return PermissionModeSetResponse(permission_mode=told)

    async def _change_setting(
        self, call: OperationCall, setting: ControlSetting, value: str
    ) -> str:
        return await self._controls.change_setting(
            call.id, setting, value, call.identity, call.reauthorize
        )


def _make_operation(
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
