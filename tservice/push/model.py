"""Subscriptions and messages of Web Push (RFC 8030, 8291, 8292), as records and rules.  Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re

from attrs import field, frozen
from cryptography.hazmat.primitives.asymmetric import ec

from tservice.core.errors import invalid_field
from tservice.core.event_payloads import ApprovalPayload
from tservice.core.events import Event, EventName
from tservice.core.net.egress import PUBLIC_ONLY, EgressRefused, EgressTarget, parse_target

MAX_PER_OWNER = 20
"""Maximum subscriptions of one user; a new one replaces the oldest."""
POINT_BYTES = 65
AUTH_BYTES = 16
"""Sizes of a browser's key and secret (RFC 8291, 3.1 and 3.2)."""
LIFETIME_SECONDS = 12 * 3600
"""Seconds for which a push service keeps a message for an offline browser, as long as an
approval (protocol-approvals).
"""
NAME_LENGTH = 128

FALLBACK_SUBJECT = "mailto:tservice@localhost"
_SECURE_ORIGIN = re.compile(r"(https://[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::[0-9]+)?")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*={0,2}")

_KIND_OF_ITEM = {
    "permission": "permission_prompt",
    "question": "elicitation_dialog",
    "idle": "idle_prompt",
}
_KIND_OF_EVENT = {
    EventName.SESSION_STOP: "stop",
    EventName.SESSION_EXIT: "exit",
    EventName.SESSION_ERROR: "error",
}


@frozen(kw_only=True)
class Subscription:
    """Subscription of one user's browser.

    @ivar endpoint: the push service's URL for it, a secret that allows to reach the browser.
    @ivar p256dh: the browser's public key, base64url; C{auth} its secret.
    @ivar subject: contact for the push service (RFC 8292, 2.1).
    @ivar created_at: Unix milliseconds.
    """

    endpoint: str = field(repr=False)
    owner: str
    p256dh: str = field(repr=False)
    auth: str = field(repr=False)
    subject: str
    created_at: int


@frozen(kw_only=True)
class PushNote:
    """Content of a message, without any text of the session.

    @ivar kind: an event name of C{notificationPreferences} (protocol-settings).
    """

    kind: str
    session_id: str
    session_name: str

    def make_payload(self) -> bytes:
        """Return the message that the page's service worker reads."""
        data = {
            "kind": self.kind,
            "sessionId": self.session_id,
            "sessionName": self.session_name[:NAME_LENGTH],
        }
        return json.dumps(data, ensure_ascii=False).encode()

    @property
    def topic(self) -> str:
        """The topic: a newer message with it replaces a waiting one (RFC 8030, 5.4)."""
        digest = hashlib.sha256(self.session_id.encode()).digest()
        return base64.urlsafe_b64encode(digest)[:32].decode()


def classify_event(event: Event) -> str | None:
    """Return the name of C{event} in C{notificationPreferences}; C{None} if it causes no
    message.
    """
    if event.name is EventName.APPROVAL_PENDING and isinstance(event.payload, ApprovalPayload):
        return _KIND_OF_ITEM.get(event.payload.kind)
    return _KIND_OF_EVENT.get(event.name)


def parse_endpoint(endpoint: str) -> EgressTarget:
    """Return the push service that C{endpoint} names.

    @raise EgressRefused: no https, a literal address, or a name that is not allowed.
    """
    target = parse_target(endpoint, PUBLIC_ONLY)
    if target.scheme != "https":
        raise EgressRefused("must begin with https://")
    if target.address is not None or "." not in target.host:
        raise EgressRefused("must contain the name of a public host")
    return target


def make_subscription(
    endpoint: str, p256dh: str, auth: str, *, owner: str, origin: str | None, at: int
) -> Subscription:
    """Return the subscription that a browser sent.

    @param origin: the request's Origin header.
    @raise ServiceError: 400 naming the field; the text never contains the endpoint.
    """
    try:
        parse_endpoint(endpoint)
    except EgressRefused as error:
        raise invalid_field("endpoint", str(error)) from None
    if not _is_point(_decode_field("keys.p256dh", p256dh, POINT_BYTES)):
        raise invalid_field("keys.p256dh", "must be an uncompressed point of P-256")
    _decode_field("keys.auth", auth, AUTH_BYTES)
    return Subscription(
        endpoint=endpoint,
        owner=owner,
        p256dh=p256dh,
        auth=auth,
        subject=contact_subject(origin),
        created_at=at,
    )


def contact_subject(origin: str | None) -> str:
    """Return the page's own address if it is public, else a fallback."""
    found = _SECURE_ORIGIN.fullmatch((origin or "").lower())
    return found[1] if found else FALLBACK_SUBJECT


def decode_base64url(text: str) -> bytes:
    """Decode base64url, padded or not.

    @raise ValueError: it is malformed.
    """
    if not _BASE64URL.fullmatch(text):
        raise ValueError("malformed base64url")
    bare = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        raise ValueError("malformed base64url") from None


def _is_point(key: bytes) -> bool:
    """Return whether the key is an uncompressed point of P-256, which encryption needs."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
    except ValueError:
        return False
    return len(key) == POINT_BYTES


def _decode_field(name: str, text: str, size: int) -> bytes:
    try:
        found = decode_base64url(text)
    except ValueError:
        found = b""
    if len(found) != size:
        raise invalid_field(name, f"must be {size} bytes in base64url")
    return found


def choose_session_name(event: Event, known: str | None) -> str:
    """Return the session's current name, else the name in the event."""
    told = event.payload
    return known or (told.session_name if isinstance(told, ApprovalPayload) else "")
