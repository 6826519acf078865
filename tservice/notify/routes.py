"""Operations C{/api/webhook}."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.core.errors import ErrorCode
from tservice.core.scopes import Scope as TokenScope
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Operation, OperationCall
from tservice.notify.model import MessageScope, ReceiverKind
from tservice.notify.service import WebhookService
from tservice.notify.shown import ResultAnswer, WebhookAnswer, shown_result


class WebhookPatch(RequestBody):
    """What is absent, or null, stays."""

    enabled: bool | None = None
    kind: Annotated[ReceiverKind, Field(strict=False)] | None = None
    scope: Annotated[MessageScope, Field(strict=False)] | None = None
    url: Annotated[str, Field(max_length=2048)] | None = Field(
        default=None, description="http or https; an empty string clears it and switches off"
    )


class WebhookRoutes:
    """Operations that read, change and test the webhook; the rules are in L{WebhookService}."""

    def __init__(self, webhooks: WebhookService) -> None:
        self._webhooks = webhooks

    def operations(self) -> list[Operation]:
        """Return the operations of this class."""
        return [
            Operation(
                method="GET",
                path="/api/webhook",
                access=AccessRule.ADMIN,
                scope=TokenScope.ADMIN,
                handler=self.read,
                summary="The webhook; its URL is never shown",
                tag="Webhook",
                response_model=WebhookAnswer,
            ),
            Operation(
                method="PUT",
                path="/api/webhook",
                access=AccessRule.ADMIN,
                scope=TokenScope.ADMIN,
                handler=self.change,
                summary="Change the fields given; answers the webhook",
                tag="Webhook",
                body=WebhookPatch,
                response_model=WebhookAnswer,
                errors=(ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path="/api/webhook/test",
                access=AccessRule.ADMIN,
                scope=TokenScope.ADMIN,
                handler=self.test,
                summary="Send one message now, also while disabled; ok tells whether it was taken",
                tag="Webhook",
                response_model=ResultAnswer,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED),
            ),
        ]

    async def read(self, call: OperationCall) -> WebhookAnswer:
        """Return the configuration."""
        return self._webhooks.shown()

    async def change(self, call: OperationCall) -> WebhookAnswer:
        """Merge the body into the configuration."""
        body: WebhookPatch = call.body
        given = {name: getattr(body, name) for name in body.model_fields_set}
        patch = {name: value for name, value in given.items() if value is not None}
        self._webhooks.change(patch)
        return self._webhooks.shown()

    async def test(self, call: OperationCall) -> ResultAnswer:
        """Send a test message."""
        return shown_result(await self._webhooks.test())
