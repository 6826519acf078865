"""Operations C{/api/push}, by which a page subscribes to messages while it is closed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.net.egress import URL_LIMIT
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall
from tservice.http.validation.models import RequestBody, ResponseModel
from tservice.push.service import PushService

Endpoint = Annotated[str, StringConstraints(min_length=1, max_length=URL_LIMIT)]
Base64 = Annotated[str, StringConstraints(max_length=100)]


class KeysBody(RequestBody):
    """Keys that encrypt a message for the browser (RFC 8291)."""

    p256dh: Base64 = Field(alias="p256dh")
    auth: Base64


class SubscriptionBody(RequestBody):
    """Browser's C{PushSubscription}, as its C{toJSON} returns it."""

    endpoint: Endpoint
    keys: KeysBody
    expiration_time: float | None = None


class EndpointBody(RequestBody):
    """Subscription to remove."""

    endpoint: Endpoint


class PushKeyResponse(ResponseModel):
    """Public key of the service: an uncompressed point of P-256, base64url."""

    public_key: str


class SubscriptionRemovedResponse(ResponseModel):
    """Result of a removal: true if the caller had the subscription."""

    removed: bool


_PUSH = OperationFields(
    tag="Notices",
    access=AccessRule.USER,
    scope_reason=(
        "Only a browser needs it. Notifications that a token requested would continue "
        "after it has ended."
    ),
)


class PushRoutes:
    """Subscriptions of the caller's own browsers; the rules are in L{PushService}."""

    def __init__(self, push: PushService) -> None:
        self._push = push

    @operation("GET", "/api/push/key", _PUSH)
    async def get_key(self, call: OperationCall) -> PushKeyResponse:
        """Get the public key that a page subscribes with."""
        return PushKeyResponse(public_key=self._push.public_key)

    @operation("POST", "/api/push/subscriptions", _PUSH, errors=(ErrorCode.INVALID_INPUT,))
    async def add_subscription(self, call: OperationCall, body: SubscriptionBody) -> EmptyPayload:
        """Subscribe this browser to notifications about your sessions."""
        self._push.add_subscription(
            body.endpoint,
            body.keys.p256dh,
            body.keys.auth,
            owner=call.caller.username,
            origin=call.get_header("origin"),
        )
        return EmptyPayload()

    @operation("DELETE", "/api/push/subscriptions", _PUSH)
    async def delete_subscription(
        self, call: OperationCall, body: EndpointBody
    ) -> SubscriptionRemovedResponse:
        """Unsubscribe this browser from notifications.

        An unknown subscription is no error, because the result is the requested one.
        """
        removed = self._push.delete_subscription(body.endpoint, call.caller.username)
        return SubscriptionRemovedResponse(removed=removed)
