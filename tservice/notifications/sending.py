"""Translation of messages for pages, push and webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import NoticePayload, NoticeRulesPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.notifications.messages import NoticeMessage
from tservice.notifications.model import NoticeRules, NoticeUrgency, WebhookKind, WebhookRule
from tservice.notify.interfaces import (
    IAccountWebhooks,
    MessageUrgency,
    ReceiverKind,
    WebhookConfig,
    WebhookMessage,
)

_KINDS: Mapping[WebhookKind, ReceiverKind] = {
    "ntfy": ReceiverKind.TOPIC,
    "slack": ReceiverKind.CHAT_A,
    "discord": ReceiverKind.CHAT_B,
    "generic": ReceiverKind.GENERIC,
}
PUSH_URGENCIES: Mapping[NoticeUrgency, str] = {
    "critical": "high",
    "warning": "high",
    "info": "normal",
}
"""Urgencies of RFC 8030, 5.3.  A phone may delay C{normal} while it saves power."""


class PageSender:
    """Publisher of notices to the open pages of an account."""

    def __init__(self, hub: EventHub, username: str) -> None:
        """@param username: name of the only account in single-user mode."""
        self._hub = hub
        self._username = username

    def show(self, account: str, message: NoticeMessage) -> None:
        """Publish a notice."""
        told = NoticePayload(
            kind=message.kind,
            urgency=message.urgency,
            session_id=message.session_id,
            session_name=message.session_name,
            title=message.title,
            body=message.body,
            at=message.at,
        )
        self._hub.publish(
            Event(
                name=EventName.NOTICE_SENT,
                payload=told,
                session_id=message.session_id or None,
                owner=account or self._username,
            )
        )

    def announce_rules(self, account: str, custom: bool) -> None:
        """Publish that an account has rules now, or has none any longer."""
        self._hub.publish(
            Event(
                name=EventName.NOTICE_RULES_CHANGED,
                payload=NoticeRulesPayload(custom=custom),
                owner=account or self._username,
            )
        )


class WebhookPoster:
    """Sender of notices to the webhooks of accounts."""

    def __init__(
        self, clock: IReactorTime, webhooks: IAccountWebhooks, host: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._webhooks = webhooks
        self._host = host

    def apply_rules(self, account: str, rules: NoticeRules | None) -> None:
        """Open and close webhooks as the rules of an account say."""
        listed = () if rules is None else rules.webhooks
        self._webhooks.replace_webhooks(account, {each.id: _make_config(each) for each in listed})

    def post(self, account: str, webhook: str, message: NoticeMessage) -> None:
        """Send a notice to a webhook."""
        self._webhooks.send_message(
            account,
            webhook,
            WebhookMessage(
                event=message.kind,
                title=message.title,
                body=message.body or message.title,
                urgency=MessageUrgency(message.urgency),
                host=self._host(),
                at=get_unix_ms(self._clock),
                session_id=message.session_id or None,
                session_name=message.session_name or None,
            ),
        )


def _make_config(rule: WebhookRule) -> WebhookConfig:
    return WebhookConfig(enabled=rule.enabled, kind=_KINDS[rule.kind], url=rule.url)
