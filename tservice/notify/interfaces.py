"""Interfaces through which other features send messages to webhooks."""

from __future__ import annotations

from collections.abc import Mapping

from zope.interface import Interface

from tservice.notify.model import (
    DeliveryResult,
    MessageUrgency,
    ReceiverKind,
    WebhookConfig,
    WebhookMessage,
)

__all__ = [
    "DeliveryResult",
    "IAccountWebhooks",
    "MessageUrgency",
    "ReceiverKind",
    "WebhookConfig",
    "WebhookMessage",
]


class IAccountWebhooks(Interface):
    """Webhooks of accounts, beside the one of the service."""

    def replace_webhooks(account: str, webhooks: Mapping[str, WebhookConfig]) -> None:
        """Replace the webhooks of an account, by their ids.

        Waiting messages of webhooks that stay are kept.
        """

    def check_url(account: str, field: str, url: str) -> None:
        """Check that an account may send messages to C{url}.

        @raise ServiceError: 400 for C{field}: the URL is not valid, or the account may not reach
            its target.
        """

    def send_message(account: str, webhook: str, message: WebhookMessage) -> None:
        """Send a message to a webhook of an account, with retries."""

    def last_result(account: str, webhook: str) -> DeliveryResult | None:
        """Return the result of the last attempt; C{None} if there was none."""
