"""Routes of C{/api/model-endpoints} and C{/api/sessions/{id}/custom-model}."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, SecretStr, StringConstraints

from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import Scope
from tservice.core.net.egress import URL_LIMIT
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall
from tservice.http.validation.models import RequestBody, ResponseModel
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


def _require_enabled(routes: ModelRoutes) -> None:
    routes._models.require_enabled()


_READS = OperationFields(
    tag="Models",
    access=AccessRule.USER,
    scope=Scope.SESSIONS_READ,
    scope_reason=("Reads the models that sessions can use, and the loaded ones. No key is shown."),
    allowed=_require_enabled,
    errors=(ErrorCode.FORBIDDEN,),
)
_CHANGES = OperationFields(
    tag="Models",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "Sets where the sessions of all users send their data, and the key for it. A "
        "stored key is never shown, and no token can redirect it to another address."
    ),
    allowed=_require_enabled,
    errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
)


class ModelRoutes:
    """Routes that manage endpoints and choose models. The rules are in L{ModelService}."""

    def __init__(self, models: ModelService) -> None:
        self._models = models

    @operation("GET", "/api/model-endpoints", _READS)
    async def list_endpoints(self, call: OperationCall) -> list[EndpointAnswer]:
        """List the model endpoints; their keys are never shown."""
        return self._models.list_endpoints()

    @operation(
        "GET", "/api/model-endpoints/{id}/running-status", _READS, errors=(ErrorCode.NOT_FOUND,)
    )
    async def get_running(self, call: OperationCall) -> RunningAnswer:
        """List the models that an endpoint has loaded, if it reports them."""
        return await self._models.get_running(call.id)

    @operation("POST", "/api/model-endpoints", _CHANGES, errors=(ErrorCode.ALREADY_EXISTS,))
    async def add_endpoint(self, call: OperationCall, body: NewEndpointBody) -> EndpointEnvelope:
        """Add a model endpoint."""
        return EndpointEnvelope(
            endpoint=await self._models.add_endpoint(body.changed_fields(), call.caller)
        )

    @operation(
        "PUT",
        "/api/model-endpoints/{id}",
        _CHANGES,
        errors=(ErrorCode.ALREADY_EXISTS, ErrorCode.NOT_FOUND),
    )
    async def update_endpoint(self, call: OperationCall, body: EndpointPatch) -> EndpointEnvelope:
        """Change the given fields; without apiKey the key stays."""
        fields = body.changed_fields()
        changed = await self._models.update_endpoint(call.id, fields, call.caller)
        return EndpointEnvelope(endpoint=changed)

    @operation("DELETE", "/api/model-endpoints/{id}", _CHANGES, errors=(ErrorCode.NOT_FOUND,))
    async def remove_endpoint(self, call: OperationCall) -> EmptyPayload:
        """Remove a model endpoint and its key."""
        await self._models.remove_endpoint(call.id, call.caller)
        return EmptyPayload()

    @operation(
        "POST", "/api/model-endpoints/{id}/discover-models", _CHANGES, errors=(ErrorCode.NOT_FOUND,)
    )
    async def discover_models(self, call: OperationCall) -> ModelsAnswer:
        """Query the models that an endpoint offers."""
        return ModelsAnswer(models=await self._models.discover_models(call.id, call.caller))

    @operation(
        "POST",
        "/api/sessions/{id}/custom-model",
        tag="Models",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=(
            "Restarts a session's agent with a model of an endpoint that an admin has added."
        ),
        allowed=_require_enabled,
        errors=(
            ErrorCode.SESSION_BUSY,
            ErrorCode.CONFLICT,
            ErrorCode.FORBIDDEN,
            ErrorCode.NOT_FOUND,
            ErrorCode.OPERATION_FAILED,
        ),
    )
    async def choose_model(self, call: OperationCall, body: CustomModelChange) -> Choice:
        """Switch a session to a model of a custom endpoint, or back to its agent's own."""
        if body.clear:
            return await self._models.clear_model(call.id, call.caller)
        for name, value in (("endpointId", body.endpoint_id), ("modelId", body.model_id)):
            if value is None:
                raise make_field_error(name, "is required unless clear is given")
        return await self._models.switch_session_model(
            call.id,
            call.caller,
            endpoint_id=body.endpoint_id,
            model_id=body.model_id,
            confirmed_context=bool(body.confirmed or body.confirmed_context),
            confirmed_swap=bool(body.confirmed or body.confirmed_swap),
        )
