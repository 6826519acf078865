"""Routes for model, effort and permission mode of a running agent (protocol-controls)."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from tservice.agents.controls.service import AgentControls, ControlSetting
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import TYPES
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import RequestBody, ResponseModel

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


_CONTROLS = OperationFields(
    tag="Sessions",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_INPUT,
    scope_reason=TYPES,
    errors=(
        ErrorCode.INVALID_INPUT,
        ErrorCode.FORBIDDEN,
        ErrorCode.CONFLICT,
        ErrorCode.OPERATION_FAILED,
    ),
)


class ControlRoutes:
    """Operations that change model, effort and permission mode of a running agent."""

    def __init__(self, controls: AgentControls) -> None:
        self._controls = controls

    @operation("PUT", "/api/sessions/{id}/model", _CONTROLS)
    async def set_model(self, call: OperationCall, body: ModelBody) -> ModelSetResponse:
        """Change the model of a running agent."""
        return ModelSetResponse(
            model=await self._change_setting(call, ControlSetting.MODEL, body.model)
        )

    @operation("PUT", "/api/sessions/{id}/effort", _CONTROLS)
    async def set_effort(self, call: OperationCall, body: EffortBody) -> EffortSetResponse:
        """Change the effort level of a running agent."""
        return EffortSetResponse(
            effort=await self._change_setting(call, ControlSetting.EFFORT, body.effort)
        )

    @operation("PUT", "/api/sessions/{id}/permission-mode", _CONTROLS)
    async def set_permission_mode(
        self, call: OperationCall, body: PermissionModeBody
    ) -> PermissionModeSetResponse:
        """Change the permission mode of a running agent."""
        asked = body.permission_mode
        told = await self._change_setting(call, ControlSetting.PERMISSION_MODE, asked)
        return PermissionModeSetResponse(permission_mode=told)

    async def _change_setting(
        self, call: OperationCall, setting: ControlSetting, value: str
    ) -> str:
        return await self._controls.change_setting(call.id, setting, value, call.caller)
