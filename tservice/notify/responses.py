"""Wire form of the webhook, without its URL."""

from __future__ import annotations

from tservice.core.kernel.event_payloads import WebhookPayload
from tservice.core.net.egress import EgressRefused, parse_target
from tservice.core.values.payload import Payload, omit_if_none
from tservice.notify.model import DeliveryResult, MessageScope, ReceiverKind, WebhookConfig


class DeliveryResultResponse(Payload):
    """Result of an attempt; absent fields have no value."""

    ok: bool
    status: int | None = omit_if_none()
    error: str | None = omit_if_none()
    at: int


class WebhookResponse(WebhookPayload):
    """Configuration of the webhook; C{urlMasked} is scheme, host and port only."""

    enabled: bool
    kind: ReceiverKind
    scope: MessageScope
    has_url: bool
    url_masked: str | None
    last_result: DeliveryResultResponse | None


def make_webhook_response(webhook: WebhookConfig, last: DeliveryResult | None) -> WebhookResponse:
    """Return the wire form of the configuration, for responses and events (protocol-webhooks).

    @param last: result of the last attempt; C{None} if there was none.
    """
    return WebhookResponse(
        enabled=webhook.enabled,
        kind=webhook.kind,
        scope=webhook.scope,
        has_url=bool(webhook.url),
        url_masked=mask_url(webhook.url),
        last_result=None if last is None else make_result_response(last),
    )


def make_result_response(result: DeliveryResult) -> DeliveryResultResponse:
    """Return the wire form of the result of an attempt."""
    return DeliveryResultResponse.model_validate(result, from_attributes=True)


def mask_url(url: str) -> str | None:
    """Return C{scheme://host[:port]} of a URL.

    C{None} means that the URL is not valid, for example because the file was edited by hand.
    """
    try:
        return parse_target(url).origin
    except EgressRefused:
        return None
