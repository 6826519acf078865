"""Delivery attempts, and their maximum number at a time."""

from __future__ import annotations

from typing import Protocol

from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.net.outbound import OutboundError, OutboundRequest, OutboundResponse
from tservice.notify.model import Result, Webhook, WebhookMessage
from tservice.notify.requests import request_for

IN_FLIGHT = 5
"""Maximum requests at a time (protocol-webhooks)."""
REDIRECTS = "The URL redirects"


class Post(Protocol):
    """Sender of HTTP requests, such as L{tservice.core.net.outbound.OutboundClient}."""

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send a request.

        @raise OutboundError: there was no answer.
        """


class Sender:
    """Makes attempts; beyond L{IN_FLIGHT} they wait for a slot."""

    def __init__(self, clock: IReactorTime, post: Post) -> None:
        self._clock = clock
        self._post = post
        self._slots = DeferredSemaphore(IN_FLIGHT)

    def attempt(self, webhook: Webhook, message: WebhookMessage) -> Deferred[Result]:
        """Try once; cancelling gives up the slot or closes the connection."""
        request = request_for(webhook, message)
        return self._slots.run(lambda: Deferred.fromCoroutine(self._attempt(request)))

    async def _attempt(self, request: OutboundRequest) -> Result:
        try:
            reply = await self._post.send(request)
        except OutboundError as error:
            return Result(ok=False, error=error.fault.value, at=now_ms(self._clock))
        return result_of(reply, now_ms(self._clock))


def result_of(reply: OutboundResponse, at: int) -> Result:
    """Return the result of an answer: 2xx is success; the texts are those of protocol-webhooks."""
    if 200 <= reply.status < 300:
        return Result(ok=True, status=reply.status, at=at)
    error = REDIRECTS if reply.is_redirect else f"HTTP {reply.status}"
    return Result(ok=False, status=reply.status, error=error, at=at)
