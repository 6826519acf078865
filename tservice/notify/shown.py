"""The webhook as people see it: everything but its URL."""

from __future__ import annotations

from typing import Any

import attrs

from tservice.core.net.egress import EgressRefused, parse_target
from tservice.notify.model import Result, Webhook


def shown(webhook: Webhook, last: Result | None) -> dict[str, Any]:
    """The shape of protocol-webhooks, for answers and for events."""
    return {
        "enabled": webhook.enabled,
        "kind": webhook.kind.value,
        "scope": webhook.scope.value,
        "hasUrl": bool(webhook.url),
        "urlMasked": masked(webhook.url),
        "lastResult": None if last is None else shown_result(last),
    }


def shown_result(result: Result) -> dict[str, Any]:
    """What became of an attempt; absent fields have no value."""
    return attrs.asdict(result, filter=lambda _, value: value is not None)


def masked(url: str) -> str | None:
    """C{scheme://host[:port]} of a URL; C{None} for what is none (a file edited by hand)."""
    try:
        return parse_target(url).origin
    except EgressRefused:
        return None
