"""Models: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class ChangedModel(TypedDict):
    """What came of a change."""

    customModel: ChosenModel | None
    restarted: bool


class ChosenModel(TypedDict):
    """The model that a session uses."""

    endpointId: str
    modelId: str
    label: NotRequired[str]


class ContextQuestion(TypedDict):
    """The model's context is small; asked again with C{confirmedContext}, it is used."""

    requiresContextWarning: NotRequired[Literal[True]]
    modelId: str
    contextLength: int
    minSafeContextTokens: int


class CustomModelChange(TypedDict):
    """A model and the questions already answered, or C{clear}."""

    endpointId: NotRequired[str | None]
    modelId: NotRequired[str | None]
    confirmed: NotRequired[bool | None]
    confirmedContext: NotRequired[bool | None]
    confirmedSwap: NotRequired[bool | None]
    clear: NotRequired[bool | None]


class EndpointAnswer(TypedDict):
    """An endpoint; its key is never shown."""

    id: str
    label: str
    baseUrl: str
    apiKeySet: bool
    authStyle: Literal["bearer", "api-key"]
    models: list[EndpointModelAnswer]
    lastDiscoveredAt: int | None
    defaultModelId: NotRequired[str]


class EndpointModelAnswer(TypedDict):
    """A model that an endpoint offers; its context in tokens, where the endpoint tells."""

    id: str
    contextLength: NotRequired[int]


class EndpointPatch(TypedDict):
    """What is absent stays; of C{defaultModelId} alone null is a value: there is none any more."""

    label: NotRequired[str | None]
    baseUrl: NotRequired[str | None]
    apiKey: NotRequired[str | None]
    authStyle: NotRequired[Literal["bearer", "api-key"] | None]
    defaultModelId: NotRequired[str | None]


class ModelsAnswer(TypedDict):
    """What an endpoint offers."""

    models: list[EndpointModelAnswer]


class NewEndpointBody(TypedDict):
    """A new endpoint."""

    label: str
    baseUrl: str
    apiKey: NotRequired[str | None]
    authStyle: NotRequired[Literal["bearer", "api-key"] | None]
    defaultModelId: NotRequired[str | None]


class OneEndpoint(TypedDict):
    """An endpoint, wrapped."""

    endpoint: EndpointAnswer


class RunningAnswer(TypedDict):
    """What an endpoint has loaded; C{supported} is false where it does not tell."""

    supported: bool
    running: list[RunningModel]


class RunningModel(TypedDict):
    """A model that is loaded, or on its way."""

    model: str
    state: str


class SessionNamed(TypedDict):
    """A session that a model is pushed out from under."""

    id: str
    name: str


class SwapQuestion(TypedDict):
    """Another model is loaded; asked again with C{confirmedSwap}, it is pushed out."""

    requiresConfirmation: NotRequired[Literal[True]]
    currentlyLoadedModel: str
    affectedSessions: list[SessionNamed]


class Models(Calling):
    """Models."""

    async def get_model_endpoints(self) -> list[EndpointAnswer]:
        """The model endpoints; their keys are never shown."""
        found: list[EndpointAnswer] = await self.call("GET", "/model-endpoints")
        return found

    async def post_model_endpoints(self, body: NewEndpointBody) -> OneEndpoint:
        """Keep a model endpoint."""
        found: OneEndpoint = await self.call("POST", "/model-endpoints", body=body)
        return found

    async def get_model_endpoints_id_running_status(self, id: str) -> RunningAnswer:
        """Which models an endpoint has loaded, where it tells."""
        found: RunningAnswer = await self.call(
            "GET", f"/model-endpoints/{quoted(id)}/running-status"
        )
        return found

    async def put_model_endpoints_id(self, id: str, body: EndpointPatch) -> OneEndpoint:
        """Change the fields given; without apiKey the key stays."""
        found: OneEndpoint = await self.call("PUT", f"/model-endpoints/{quoted(id)}", body=body)
        return found

    async def delete_model_endpoints_id(self, id: str) -> dict[str, Any]:
        """Forget a model endpoint and its key."""
        found: dict[str, Any] = await self.call("DELETE", f"/model-endpoints/{quoted(id)}")
        return found

    async def post_model_endpoints_id_discover_models(self, id: str) -> ModelsAnswer:
        """Ask an endpoint which models it offers."""
        found: ModelsAnswer = await self.call(
            "POST", f"/model-endpoints/{quoted(id)}/discover-models"
        )
        return found

    async def post_sessions_id_custom_model(
        self, id: str, body: CustomModelChange
    ) -> ChangedModel | ContextQuestion | SwapQuestion:
        """Give a session a model of a custom endpoint, or its agent's own again."""
        found: ChangedModel | ContextQuestion | SwapQuestion = await self.call(
            "POST", f"/sessions/{quoted(id)}/custom-model", body=body
        )
        return found
