"""HTTP client that queries endpoints for the models they offer and have loaded."""

from __future__ import annotations

from typing import Protocol

from tservice.core.kernel.errors import make_failure_error
from tservice.core.net.outbound import OutboundError, OutboundRequest, OutboundResponse
from tservice.models.model import AuthStyle, ModelEndpoint, OfferedModel
from tservice.models.server_responses import (
    ResponseUnreadable,
    RunningModels,
    parse_models,
    parse_running,
)

TIME_LIMIT = 8.0
"""Seconds that one request may take (protocol-models)."""
BODY_LIMIT = 2 * 1024 * 1024
"""Maximum size of a response in bytes."""


class OutboundSender(Protocol):
    """Sender of HTTP requests, such as L{tservice.core.net.outbound.OutboundClient}."""

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send a request and return the response.

        @raise OutboundError: there was no response.
        """


class EndpointClient:
    """Stateless client of endpoints."""

    def __init__(self, sender: OutboundSender) -> None:
        self._sender = sender

    async def fetch_models(self, endpoint: ModelEndpoint) -> tuple[OfferedModel, ...]:
        """Return the models that C{endpoint} offers.

        @raise ServiceError: 422 if it does not respond, or its response is not a list of models.
        """
        try:
            reply = await self._sender.send(build_request(endpoint, "/v1/models"))
            if reply.status != 200:
                raise ResponseUnreadable(_status_text(reply))
            return parse_models(reply.body)
        except OutboundError as error:
            raise make_failure_error(
                f"the models of {endpoint.label}: {error.fault.value}"
            ) from None
        except ResponseUnreadable as error:
            raise make_failure_error(f"the models of {endpoint.label}: {error}") from None

    async def fetch_running(self, endpoint: ModelEndpoint) -> RunningModels:
        """Return the models that C{endpoint} has loaded. After any error the result is "not
        supported".
        """
        try:
            reply = await self._sender.send(build_request(endpoint, "/running"))
        except OutboundError:
            return RunningModels(supported=False)
        return parse_running(reply.body) if reply.status == 200 else RunningModels(supported=False)


def build_request(endpoint: ModelEndpoint, path: str) -> OutboundRequest:
    """Return a GET request for a path of the endpoint, with the endpoint's key."""
    headers = {"User-Agent": "tservice", "Accept": "application/json"}
    if endpoint.key:
        if endpoint.auth_style is AuthStyle.API_KEY:
            headers["x-api-key"] = endpoint.key
        else:
            headers["Authorization"] = f"Bearer {endpoint.key}"
    return OutboundRequest(url=endpoint.root + path, headers=headers, body_limit=BODY_LIMIT)


def _status_text(reply: OutboundResponse) -> str:
    return "The URL redirects" if reply.is_redirect else f"HTTP {reply.status}"
