"""Response models of endpoints and their models (protocol-models)."""

from __future__ import annotations

from collections.abc import Iterable

from tservice.core.kernel.event_payloads import ModelEndpointsPayload
from tservice.core.values.payload import Payload, omit_if_none
from tservice.models.model import AuthStyle, ModelEndpoint, OfferedModel
from tservice.models.server_responses import RunningModels
from tservice.sessions.interfaces import ContextQuestion, EndpointModel, SwapQuestion


class OfferedModelAnswer(Payload):
    """Model that an endpoint offers; its context length in tokens, if the endpoint reports it."""

    id: str
    context_length: int | None = omit_if_none()


class EndpointAnswer(Payload):
    """Model endpoint; its key is never shown."""

    id: str
    label: str
    base_url: str
    api_key_set: bool
    auth_style: AuthStyle
    models: list[OfferedModelAnswer]
    last_discovered_at: int | None
    default_model_id: str | None = omit_if_none()


class EndpointsAnswer(ModelEndpointsPayload):
    """List of every model endpoint."""

    endpoints: list[EndpointAnswer]


class RunningModel(Payload):
    """Model that is loaded or being loaded."""

    model: str
    state: str


class RunningAnswer(Payload):
    """Models that an endpoint has loaded. C{supported} is false if the endpoint does not report
    them.
    """

    supported: bool
    running: list[RunningModel]


class ChosenModel(Payload):
    """Model that a session uses."""

    endpoint_id: str
    model_id: str
    label: str | None = omit_if_none()


class ChangedModel(Payload):
    """Result of a change of model."""

    custom_model: ChosenModel | None
    restarted: bool


Choice = ChangedModel | ContextQuestion | SwapQuestion
"""Possible results of choosing a model: the change, or a question that the user has to answer
first.
"""


def make_endpoint_response(endpoint: ModelEndpoint) -> EndpointAnswer:
    """Convert an endpoint to the response model, without its key."""
    return EndpointAnswer(
        id=endpoint.id,
        label=endpoint.label,
        base_url=endpoint.base_url,
        api_key_set=bool(endpoint.key),
        auth_style=endpoint.auth_style,
        models=make_model_responses(endpoint.models),
        last_discovered_at=endpoint.last_discovered_at,
        default_model_id=endpoint.default_model_id,
    )


def make_model_responses(models: Iterable[OfferedModel]) -> list[OfferedModelAnswer]:
    """Convert models to their response models."""
    return [OfferedModelAnswer(id=each.id, context_length=each.context_length) for each in models]


def make_running_response(running: RunningModels) -> RunningAnswer:
    """Convert the loaded models of an endpoint to the response model."""
    models = [RunningModel(model=name, state=state) for name, state in running.models]
    return RunningAnswer(supported=running.supported, running=models)


def make_changed_response(custom: EndpointModel | None, *, restarted: bool) -> ChangedModel:
    """Return the response after a change of a session's model.

    @param custom: model that the session uses now; C{None} for its agent's own model.
    @param restarted: true if the session was restarted for the change.
    """
    chosen = None
    if custom is not None:
        chosen = ChosenModel(
            endpoint_id=custom.endpoint_id, model_id=custom.model_id, label=custom.label
        )
    return ChangedModel(custom_model=chosen, restarted=restarted)
