"""Routes of C{/api/model-endpoints} and C{/api/sessions/{id}/custom-model}."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, SecretStr, StringConstraints

from tservice.core.errors import ErrorCode, make_field_error
from tservice.core.event_payloads import EmptyPayload
from tservice.core.net.egress import URL_LIMIT
from tservice.core.scopes import Scope
from tservice.http.models import RequestBody, ResponseModel
from tservice.http.operations import AccessRule, Operation, OperationCall
from tservice.models.model import KEY_LENGTH, LABEL_LENGTH, AuthStyle
from tservice.models.responses import Choice, EndpointAnswer, OfferedModelAnswer, RunningAnswer
from tservice.models.service import ModelService

Label = Annotated[str, StringConstraints(min_length=1, max_length=LABEL_LENGTH)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=URL_LIMIT)]
ModelId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
EndpointId = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Style = Annotated[AuthStyle, Field(strict=False)]
Key = Annotated[str, StringConstraints(max_length=KEY_LENGTH)]


class EndpointPatch(RequestBody):
    """Changes to an endpoint. Absent fields stay as they are. Null is a value only for
    C{defaultModelId}, which it removes.
    """

    label: Label | None = None
    base_url: Url | None = Field(default=None, description="http or https; /v1 may be omitted")
    api_key: Key | None = Field(
        default=None, repr=False, description="Never returned; an empty string clears it"
    )
    auth_style: Style | None = None
    default_model_id: ModelId | None = None

    def changed_fields(self) -> dict[str, Any]:
        """Return the fields that the request changes, under the names that L{ModelEndpoint}
        uses.
        """
        given = {name: getattr(self, name) for name in self.model_fields_set}
        found = {
            name: value
            for name, value in given.items()
            if value is not None or name == "default_model_id"
        }
        if "api_key" in found:
            found["api_key"] = SecretStr(found["api_key"]) if found["api_key"] else None
        return found


class NewEndpointBody(EndpointPatch):
    """New model endpoint."""

    label: Label
    base_url: Url


class CustomModelChange(RequestBody):
    """Custom model to select, with the warnings that the user has accepted.

    C{clear} removes the selection instead.
    """

    endpoint_id: EndpointId | None = None
    model_id: ModelId | None = None
    confirmed: bool | None = None
    confirmed_context: bool | None = None
    confirmed_swap: bool | None = None
    clear: bool | None = None


class EndpointEnvelope(ResponseModel):
    """Response with an endpoint."""

    endpoint: EndpointAnswer


class ModelsAnswer(ResponseModel):
    """Models that an endpoint offers."""

    models: list[OfferedModelAnswer]


class ModelRoutes:
    """Routes that manage endpoints and choose models. The rules are in L{ModelService}."""

    def __init__(self, models: ModelService) -> None:
        self._models = models

    def operations(self) -> list[Operation]:
        """Return the operations of these routes."""
        return [*self._read_operations(), *self._write_operations(), self._choice_operation()]

    def _read_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/model-endpoints",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_READ,
                handler=self.list_endpoints,
                summary="List the model endpoints; their keys are never shown",
                tag="Models",
                response_model=list[EndpointAnswer],
                errors=(ErrorCode.FORBIDDEN,),
                allowed=self._models.require_enabled,
            ),
            Operation(
                method="GET",
                path="/api/model-endpoints/{id}/running-status",
                access=AccessRule.USER,
                scope=Scope.SESSIONS_READ,
                handler=self.get_running,
                summary="List the models that an endpoint has loaded, if it reports them",
                tag="Models",
                response_model=RunningAnswer,
                errors=(ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND),
                allowed=self._models.require_enabled,
            ),
        ]

    def _write_operations(self) -> list[Operation]:
        return [
            self._write_operation(
                method="POST",
                path="/api/model-endpoints",
                handler=self.add_endpoint,
                summary="Add a model endpoint",
                body=NewEndpointBody,
                response_model=EndpointEnvelope,
                errors=(ErrorCode.ALREADY_EXISTS,),
            ),
            self._write_operation(
                method="PUT",
                path="/api/model-endpoints/{id}",
                handler=self.update_endpoint,
                summary="Change the given fields; without apiKey the key stays",
                body=EndpointPatch,
                response_model=EndpointEnvelope,
                errors=(ErrorCode.ALREADY_EXISTS, ErrorCode.NOT_FOUND),
            ),
            self._write_operation(
                method="DELETE",
                path="/api/model-endpoints/{id}",
                handler=self.remove_endpoint,
                summary="Remove a model endpoint and its key",
                response_model=EmptyPayload,
                errors=(ErrorCode.NOT_FOUND,),
            ),
            self._write_operation(
                method="POST",
                path="/api/model-endpoints/{id}/discover-models",
                handler=self.discover_models,
                summary="Query the models that an endpoint offers",
                response_model=ModelsAnswer,
                errors=(ErrorCode.NOT_FOUND,),
            ),
        ]

    def _write_operation(self, *, errors: tuple[ErrorCode, ...], **fields: Any) -> Operation:
        common = (ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)
        return Operation(
            access=AccessRule.ADMIN,
            scope=Scope.ADMIN,
            tag="Models",
            errors=(*errors, *common),
            allowed=self._models.require_enabled,
            **fields,
        )

    def _choice_operation(self) -> Operation:
        return Operation(
            method="POST",
            path="/api/sessions/{id}/custom-model",
            access=AccessRule.OWNER,
            scope=Scope.SESSIONS_MANAGE,
            handler=self.choose_model,
            summary="Switch a session to a model of a custom endpoint, or back to its agent's own",
            tag="Models",
            body=CustomModelChange,
            response_model=Choice,
            errors=(
                ErrorCode.SESSION_BUSY,
                ErrorCode.CONFLICT,
                ErrorCode.FORBIDDEN,
                ErrorCode.NOT_FOUND,
                ErrorCode.OPERATION_FAILED,
            ),
            allowed=self._models.require_enabled,
        )

    async def list_endpoints(self, call: OperationCall) -> object:
        """List every endpoint."""
        return self._models.list_endpoints()

    async def get_running(self, call: OperationCall) -> object:
        """Return the loaded models of an endpoint."""
        return await self._models.get_running(call.id)

    async def add_endpoint(self, call: OperationCall) -> object:
        """Add an endpoint."""
        return EndpointEnvelope(
            endpoint=await self._models.add_endpoint(call.body.changed_fields(), call.reauthorize)
        )

    async def update_endpoint(self, call: OperationCall) -> object:
        """Change an endpoint."""
        fields = call.body.changed_fields()
        changed = await self._models.update_endpoint(
            call.id, fields, call.identity, call.reauthorize
        )
        return EndpointEnvelope(endpoint=changed)

    async def remove_endpoint(self, call: OperationCall) -> object:
        """Remove an endpoint."""
        await self._models.remove_endpoint(call.id, call.reauthorize)
        return EmptyPayload()

    async def discover_models(self, call: OperationCall) -> object:
        """Fetch the models of an endpoint."""
        return ModelsAnswer(models=await self._models.discover_models(call.id, call.reauthorize))

    async def choose_model(self, call: OperationCall) -> object:
        """Change the model of a session."""
        body: CustomModelChange = call.body
        if body.clear:
            return await self._models.clear_model(call.id, call.identity, call.reauthorize)
        for name, value in (("endpointId", body.endpoint_id), ("modelId", body.model_id)):
            if value is None:
                raise make_field_error(name, "is required unless clear is given")
        return await self._models.use_model(
            call.id,
            call.identity,
            call.reauthorize,
            endpoint_id=body.endpoint_id,
            model_id=body.model_id,
            confirmed_context=bool(body.confirmed or body.confirmed_context),
            confirmed_swap=bool(body.confirmed or body.confirmed_swap),
        )
