"""Operations C{/api/webhook}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SERVICE_STATE
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import RequestBody
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


_WEBHOOK = OperationFields(
    tag="Webhook",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "Sets where notifications of all sessions are sent. The URL itself is never shown."
    ),
)


class WebhookRoutes:
    """Operations that read, change and test the webhook; the rules are in L{WebhookService}."""

    def __init__(self, webhooks: WebhookService) -> None:
        self._webhooks = webhooks

    @operation("GET", "/api/webhook", _WEBHOOK, scope_reason=READS_SERVICE_STATE)
    async def get_webhook(self, call: OperationCall) -> WebhookResponse:
        """Get the webhook; its URL is never shown."""
        return self._webhooks.make_response()

    @operation(
        "PUT", "/api/webhook", _WEBHOOK, errors=(ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)
    )
    async def update_webhook(self, call: OperationCall, body: WebhookPatch) -> WebhookResponse:
        """Change the given fields; returns the webhook."""
        given = {name: getattr(body, name) for name in body.model_fields_set}
        patch = {name: value for name, value in given.items() if value is not None}
        self._webhooks.update_config(patch)
        return self._webhooks.make_response()

    @operation(
        "POST",
        "/api/webhook/test",
        _WEBHOOK,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED),
    )
    async def send_test(self, call: OperationCall) -> DeliveryResultResponse:
        """Send one message now, also while disabled; ok is true if it was accepted."""
        return make_result_response(await self._webhooks.send_test())
