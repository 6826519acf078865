"""Sender of webhook messages, which limits the number of requests at a time."""

from __future__ import annotations

from typing import Protocol

from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.net.outbound import OutboundError, OutboundRequest, OutboundResponse
from tservice.notify.model import DeliveryResult, WebhookConfig, WebhookMessage
from tservice.notify.requests import build_request

IN_FLIGHT = 5
"""Maximum number of requests at the same time (protocol-webhooks)."""
REDIRECTS = "The URL redirects"


class RequestSender(Protocol):
    """Sender of HTTP requests, such as L{tservice.core.net.outbound.OutboundClient}."""

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send a request and return the response.

        @raise OutboundError: there was no response.
        """


class WebhookSender:
    """Sends messages.  Attempts beyond L{IN_FLIGHT} wait until another one is finished."""

    def __init__(self, clock: IReactorTime, post: RequestSender) -> None:
        self._clock = clock
        self._post = post
        self._slots = DeferredSemaphore(IN_FLIGHT)

    def attempt_delivery(
        self, webhook: WebhookConfig, message: WebhookMessage
    ) -> Deferred[DeliveryResult]:
        """Send a message once and return the result.

        Cancelling stops waiting for a free slot, or closes the connection.
        """
        request = build_request(webhook, message)
        return self._slots.run(lambda: Deferred.fromCoroutine(self._send_request(request)))

    async def _send_request(self, request: OutboundRequest) -> DeliveryResult:
        try:
            reply = await self._post.send(request)
        except OutboundError as error:
            return DeliveryResult(ok=False, error=error.fault.value, at=get_unix_ms(self._clock))
        return make_delivery_result(reply, get_unix_ms(self._clock))


def make_delivery_result(reply: OutboundResponse, at: int) -> DeliveryResult:
    """Return the result for a response: a 2xx status is success, others have an error text.

    @param at: Unix milliseconds.
    """
    if 200 <= reply.status < 300:
        return DeliveryResult(ok=True, status=reply.status, at=at)
    error = REDIRECTS if reply.is_redirect else f"HTTP {reply.status}"
    return DeliveryResult(ok=False, status=reply.status, error=error, at=at)
