"""Wire form of notification rules (protocol-notices)."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.net.egress import EgressRefused, parse_target
from tservice.core.values.payload import Payload, omit_if_none
from tservice.notifications.model import (
    URGENCIES,
    ChannelRule,
    NoticeKind,
    NoticeRules,
    NoticeUrgency,
    QuietHours,
    WebhookKind,
    WebhookScope,
)


class NoticeResultResponse(Payload):
    """Result of the last attempt to deliver; absent fields have no value."""

    ok: bool
    status: int | None = omit_if_none()
    error: str | None = omit_if_none()
    at: int


class WebhookRuleResponse(Payload):
    """Webhook of an account; C{urlMasked} is scheme, host and port only."""

    id: str
    name: str
    enabled: bool
    kind: WebhookKind
    scope: WebhookScope
    events: tuple[NoticeKind, ...] | None
    url_masked: str | None
    last_result: NoticeResultResponse | None


class NoticeRulesResponse(Payload):
    """Rules of the caller's notices.

    @ivar custom: false if the account has no rules, so that the settings of the service decide.
    @ivar urgency: urgency of every kind, also of those for which the account chose none.
    """

    custom: bool
    browser: ChannelRule
    push: ChannelRule
    webhooks: list[WebhookRuleResponse]
    only_unwatched: bool
    quiet_hours: QuietHours
    urgency: dict[NoticeKind, NoticeUrgency]
    group_families: bool
    digest: bool


def make_rules_response(
    rules: NoticeRules,
    custom: bool,
    last_result: Callable[[str], NoticeResultResponse | None],
) -> NoticeRulesResponse:
    """Return the wire form of rules, without the URLs of webhooks.

    @param last_result: returns the last result of a webhook by its id.
    """
    webhooks = [
        WebhookRuleResponse(
            id=each.id,
            name=each.name,
            enabled=each.enabled,
            kind=each.kind,
            scope=each.scope,
            events=each.events,
            url_masked=mask_url(each.url),
            last_result=last_result(each.id),
        )
        for each in rules.webhooks
    ]
    fields = {name: getattr(rules, name) for name in type(rules).model_fields}
    fields["urgency"] = {kind: rules.get_urgency(kind) for kind in URGENCIES}
    return NoticeRulesResponse(**{**fields, "custom": custom, "webhooks": webhooks})


def mask_url(url: str) -> str | None:
    """Return C{scheme://host[:port]} of a URL; C{None} without a valid one."""
    try:
        return parse_target(url).origin
    except EgressRefused:
        return None
