"""Webhook: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class ResultAnswer(TypedDict):
    """What became of an attempt; absent fields have no value."""

    ok: bool
    status: NotRequired[int]
    error: NotRequired[str]
    at: int


class WebhookAnswer(TypedDict):
    """The configuration; C{urlMasked} is scheme, host and port only."""

    enabled: bool
    kind: Literal["topic", "chat_a", "chat_b", "generic"]
    scope: Literal["attention", "all"]
    hasUrl: bool
    urlMasked: str | None
    lastResult: ResultAnswer | None


class WebhookPatch(TypedDict):
    """What is absent, or null, stays."""

    enabled: NotRequired[bool | None]
    kind: NotRequired[Literal["topic", "chat_a", "chat_b", "generic"] | None]
    scope: NotRequired[Literal["attention", "all"] | None]
    url: NotRequired[str | None]


class Webhook(Calling):
    """Webhook."""

    async def get_webhook(self) -> WebhookAnswer:
        """The webhook; its URL is never shown."""
        found: WebhookAnswer = await self.call("GET", "/webhook")
        return found

    async def put_webhook(self, body: WebhookPatch) -> WebhookAnswer:
        """Change the fields given; answers the webhook."""
        found: WebhookAnswer = await self.call("PUT", "/webhook", body=body)
        return found

    async def post_webhook_test(self) -> ResultAnswer:
        """Send one message now, also while disabled; ok tells whether it was taken."""
        found: ResultAnswer = await self.call("POST", "/webhook/test")
        return found
