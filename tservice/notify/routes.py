"""C{/api/webhook}."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tservice.core.errors import ErrorCode
from tservice.http.models import Answer, Body
from tservice.http.operations import Access, Call, Operation
from tservice.notify.model import Kind, Result, Scope, Webhook
from tservice.notify.service import WebhookService, masked


class WebhookPatch(Body):
    """What is absent, or null, stays."""

    enabled: bool | None = None
    kind: Kind | None = None
    scope: Scope | None = None
    url: Annotated[str, Field(max_length=2048)] | None = Field(
        default=None, description="http or https; an empty string clears it and switches off"
    )


class ResultAnswer(Answer):
    """What became of an attempt; absent fields have no value."""

    ok: bool
    status: int | None = None
    error: str | None = None
    at: int


class WebhookAnswer(Answer):
    """The configuration; C{urlMasked} is scheme, host and port only."""

    enabled: bool
    kind: Kind
    scope: Scope
    has_url: bool
    url_masked: str | None
    last_result: ResultAnswer | None


class WebhookRoutes:
    """Reads, changes and tries the webhook; the rules live in L{WebhookService}."""

    def __init__(self, webhooks: WebhookService) -> None:
        self._webhooks = webhooks

    def operations(self) -> list[Operation]:
        """The routes."""
        return [
            Operation(
                method="GET",
                path="/api/webhook",
                access=Access.ADMIN,
                handler=self.read,
                summary="The webhook; its URL is never shown",
                tag="webhook",
                answer=WebhookAnswer,
            ),
            Operation(
                method="PUT",
                path="/api/webhook",
                access=Access.ADMIN,
                handler=self.change,
                summary="Change the fields given; answers the webhook",
                tag="webhook",
                body=WebhookPatch,
                answer=WebhookAnswer,
                errors=(ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="POST",
                path="/api/webhook/test",
                access=Access.ADMIN,
                handler=self.test,
                summary="Send one message now, also while disabled; ok tells whether it was taken",
                tag="webhook",
                answer=ResultAnswer,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED),
            ),
        ]

    async def read(self, call: Call) -> dict[str, Any]:
        """The configuration."""
        return self._answer(self._webhooks.get())

    async def change(self, call: Call) -> dict[str, Any]:
        """Merge the body into the configuration."""
        body: WebhookPatch = call.body
        given = {name: getattr(body, name) for name in body.model_fields_set}
        patch = {name: value for name, value in given.items() if value is not None}
        return self._answer(self._webhooks.change(patch))

    async def test(self, call: Call) -> dict[str, Any]:
        """Send a test message."""
        return _result(await self._webhooks.test())

    def _answer(self, webhook: Webhook) -> dict[str, Any]:
        last = self._webhooks.last_result()
        return {
            "enabled": webhook.enabled,
            "kind": webhook.kind.value,
            "scope": webhook.scope.value,
            "hasUrl": bool(webhook.url),
            "urlMasked": masked(webhook.url),
            "lastResult": None if last is None else _result(last),
        }


def _result(result: Result) -> dict[str, Any]:
    shown = ResultAnswer(ok=result.ok, status=result.status, error=result.error, at=result.at)
    return shown.model_dump(by_alias=True, exclude_none=True)
