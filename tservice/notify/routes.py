"""Operations C{/api/webhook}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.core.errors import ErrorCode
from tservice.core.scopes import Scope as TokenScope
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Operation, OperationCall
from tservice.notify.model import MessageScope, ReceiverKind
from tservice.notify.responses import DeliveryResultResponse, WebhookResponse, make_result_response
from tservice.notify.service import WebhookService


class WebhookPatch(RequestBody):
    """Changes to the webhook; fields that are absent or null stay as they are."""

    enabled: bool | None = None
    kind: Annotated[ReceiverKind, Field(strict=False)] | None = None
    scope: Annotated[MessageScope, Field(strict=False)] | None = None
    url: Annotated[str, Field(max_length=2048)] | None = Field(
        default=None,
        description=("http or https; an empty string clears it and disables the webhook"),
    )


class WebhookRoutes:
    """Operations that read, change and test the webhook; the rules are in L{WebhookService}."""

    def __init__(self, webhooks: WebhookService) -> None:
        self._webhooks = webhooks

    def operations(self) -> list[Operation]:
        """Return the HTTP operations that this class handles."""
        return [
            Operation(
                method="GET",
                path="/api/webhook",
                access=AccessRule.ADMIN,
                scope=TokenScope.ADMIN,
                handler=self.get_webhook,
                summary="Get the webhook; its URL is never shown",
                tag="Webhook",
                response_model=WebhookResponse,
            ),
            Operation(
                method="PUT",
                path="/api/webhook",
                access=AccessRule.ADMIN,
                scope=TokenScope.ADMIN,
                handler=self.update_webhook,
                summary="Change the given fields; returns the webhook",
                tag="Webhook",
                body=WebhookPatch,
                response_model=WebhookResponse,
                errors=(ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path="/api/webhook/test",
                access=AccessRule.ADMIN,
                scope=TokenScope.ADMIN,
                handler=self.send_test,
                summary="Send one message now, also while disabled; ok is true if it was accepted",
                tag="Webhook",
                response_model=DeliveryResultResponse,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED),
            ),
        ]

    async def get_webhook(self, call: OperationCall) -> WebhookResponse:
        """Return the configuration."""
        return self._webhooks.make_response()

    async def update_webhook(self, call: OperationCall) -> WebhookResponse:
        """Merge the body into the configuration."""
        body: WebhookPatch = call.body
        given = {name: getattr(body, name) for name in body.model_fields_set}
        patch = {name: value for name, value in given.items() if value is not None}
        self._webhooks.update_config(patch)
        return self._webhooks.make_response()

    async def send_test(self, call: OperationCall) -> DeliveryResultResponse:
        """Send a test message."""
        return make_result_response(await self._webhooks.send_test())
