"""HTTP requests for each kind of receiver, byte for byte as in protocol-webhooks."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from tservice.core.net.outbound import OutboundRequest
from tservice.notify.model import MessageUrgency, ReceiverKind, WebhookConfig, WebhookMessage

CHAT_B_LIMIT = 1900
"""Maximum characters of a message to a receiver of kind C{chat_b} (Discord)."""
_WORD_BYTES = 45
"""Maximum bytes in one encoded word, so that the word has at most 75 characters (RFC 2047)."""

_PRIORITIES = {MessageUrgency.CRITICAL: "5", MessageUrgency.WARNING: "4", MessageUrgency.INFO: "3"}
_TAGS = {
    MessageUrgency.CRITICAL: "rotating_light",
    MessageUrgency.WARNING: "warning",
    MessageUrgency.INFO: "white_check_mark",
}


def build_request(webhook: WebhookConfig, message: WebhookMessage) -> OutboundRequest:
    """Return the HTTP request that delivers C{message}.

    Of the response only the status is used.
    """
    headers, body = _FORMS[webhook.kind](message)
    return OutboundRequest(
        url=webhook.url,
        method="POST",
        headers={"User-Agent": "tservice", **headers},
        body=body,
    )


def encode_header_text(text: str) -> str:
    """Return C{text} as the value of a header, on one line.

    Plain ASCII is unchanged; other text is encoded by RFC 2047.
    """
    if text.isascii() and text.isprintable() and "=?" not in text:
        return text
    return " ".join(f"=?utf-8?B?{b64encode(part).decode()}?=" for part in _split_bytes(text))


def _split_bytes(text: str) -> Iterator[bytes]:
    """Yield the UTF-8 bytes of C{text} in pieces, without splitting a character."""
    part = b""
    for char in text:
        encoded = char.encode()
        if len(part) + len(encoded) > _WORD_BYTES:
            yield part
            part = b""
        part += encoded
    yield part


Form = tuple[Mapping[str, str], bytes]


def _ntfy_form(message: WebhookMessage) -> Form:
    headers = {
        "Content-Type": "text/plain; charset=utf-8",
        "Title": encode_header_text(f"{message.host}: {message.title}"),
        "Priority": _PRIORITIES[message.urgency],
        "Tags": _TAGS[message.urgency],
    }
    return headers, message.body.encode()


def _slack_form(message: WebhookMessage) -> Form:
    text = _message_text(message).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _json_form({"text": text})


def _discord_form(message: WebhookMessage) -> Form:
    content = _message_text(message)[:CHAT_B_LIMIT]
    return _json_form({"content": content, "allowed_mentions": {"parse": []}})


def _generic_form(message: WebhookMessage) -> Form:
    moment = datetime.fromtimestamp(message.at / 1000, UTC)
    return _json_form(
        {
            "event": message.event,
            "title": message.title,
            "body": message.body,
            "urgency": message.urgency,
            "sessionId": message.session_id,
            "sessionName": message.session_name,
            "host": message.host,
            "at": moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{message.at % 1000:03}Z",
        }
    )


def _message_text(message: WebhookMessage) -> str:
    return f"{message.host}: {message.title}\n{message.body}"


def _json_form(data: Mapping[str, Any]) -> Form:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return {"Content-Type": "application/json"}, text.encode()


_FORMS: Mapping[ReceiverKind, Callable[[WebhookMessage], Form]] = {
    ReceiverKind.TOPIC: _ntfy_form,
    ReceiverKind.CHAT_A: _slack_form,
    ReceiverKind.CHAT_B: _discord_form,
    ReceiverKind.GENERIC: _generic_form,
}
