"""Client that queries endpoints for their models and loaded models."""

from __future__ import annotations

from typing import Protocol

from tservice.core.errors import operation_failed
from tservice.core.net.outbound import OutboundError, OutboundRequest, OutboundResponse
from tservice.models.model import AuthStyle, Endpoint, Model
from tservice.models.shapes import Running, Unreadable, read_models, read_running

TIME_LIMIT = 8.0
"""Seconds for one request (protocol-models)."""
BODY_LIMIT = 2 * 1024 * 1024
"""Largest answer in bytes."""


class Send(Protocol):
    """Sender of requests; an L{tservice.core.net.outbound.OutboundClient}."""

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send a request and return the reply.

        @raise OutboundError: there was no answer.
        """


class Asker:
    """Stateless client of endpoints."""

    def __init__(self, post: Send) -> None:
        self._post = post

    async def models(self, endpoint: Endpoint) -> tuple[Model, ...]:
        """Return the models that C{endpoint} offers.

        @raise ServiceError: 422: it does not answer, or not like a model server.
        """
        try:
            reply = await self._post.send(request_for(endpoint, "/v1/models"))
            if reply.status != 200:
                raise Unreadable(_words(reply))
            return read_models(reply.body)
        except OutboundError as error:
            raise operation_failed(f"the models of {endpoint.label}: {error.fault.value}") from None
        except Unreadable as error:
            raise operation_failed(f"the models of {endpoint.label}: {error}") from None

    async def running(self, endpoint: Endpoint) -> Running:
        """Return the models that C{endpoint} has loaded; after an error the query counts as
        unsupported.
        """
        try:
            reply = await self._post.send(request_for(endpoint, "/running"))
        except OutboundError:
            return Running(supported=False)
        return read_running(reply.body) if reply.status == 200 else Running(supported=False)


def request_for(endpoint: Endpoint, path: str) -> OutboundRequest:
    """Return a request with the endpoint's key."""
    headers = {"User-Agent": "tservice", "Accept": "application/json"}
    if endpoint.key:
        if endpoint.auth_style is AuthStyle.API_KEY:
            headers["x-api-key"] = endpoint.key
        else:
            headers["Authorization"] = f"Bearer {endpoint.key}"
    return OutboundRequest(url=endpoint.root + path, headers=headers, body_limit=BODY_LIMIT)


def _words(reply: OutboundResponse) -> str:
    return "The URL redirects" if reply.is_redirect else f"HTTP {reply.status}"
