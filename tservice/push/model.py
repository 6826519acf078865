"""Records of subscriptions and messages of Web Push (RFC 8030, 8291, 8292), and their rules."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re

from attrs import field, frozen
from cryptography.hazmat.primitives.asymmetric import ec

from tservice.core.kernel.errors import make_field_error
from tservice.core.kernel.event_payloads import ApprovalPayload, ChecksPayload
from tservice.core.kernel.events import Event, EventName
from tservice.core.net.egress import PUBLIC_ONLY, EgressRefused, EgressTarget, parse_target

MAX_PER_OWNER = 20
"""Maximum number of subscriptions of one user.

Beyond it a new one replaces the oldest.
"""
POINT_BYTES = 65
AUTH_BYTES = 16
"""Sizes in bytes of a browser's public key and secret (RFC 8291, 3.1 and 3.2)."""
LIFETIME_SECONDS = 12 * 3600
"""Seconds for which a push service keeps a message for an offline browser.

An approval has the same lifetime (protocol-approvals).
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
    EventName.SESSION_STALLED: "stalled",
}


@frozen(kw_only=True)
class Subscription:
    """Subscription of one user's browser.

    @ivar endpoint: the push service's URL for this browser.  It is a secret, because anyone who
        knows it can send messages to the browser.
    @ivar p256dh: the browser's public key, base64url; C{auth} is its secret.
    @ivar subject: contact address for the push service (RFC 8292, 2.1).
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
    """Content of a message, which contains no text from the session.

    @ivar kind: a key of the setting C{notificationPreferences} (protocol-settings), or a kind of
        protocol-notices.
    @ivar urgency: urgency of RFC 8030, 5.3; empty: it follows from the kind.
    """

    kind: str
    session_id: str
    session_name: str
    urgency: str = ""

    def make_payload(self) -> bytes:
        """Return the message as the page's service worker parses it."""
        data = {
            "kind": self.kind,
            "sessionId": self.session_id,
            "sessionName": self.session_name[:NAME_LENGTH],
        }
        return json.dumps(data, ensure_ascii=False).encode()

    @property
    def topic(self) -> str:
        """Topic of the message.

        A newer message with the same topic replaces a waiting one (RFC 8030, 5.4).
        """
        digest = hashlib.sha256(self.session_id.encode()).digest()
        return base64.urlsafe_b64encode(digest)[:32].decode()


def find_preference_key(event: Event) -> str | None:
    """Return the key of C{event} in C{notificationPreferences}; C{None} if it causes no message."""
    if event.name is EventName.APPROVAL_PENDING and isinstance(event.payload, ApprovalPayload):
        return _KIND_OF_ITEM.get(event.payload.kind)
    if isinstance(event.payload, ChecksPayload) and event.name is EventName.CHECK_FINISHED:
        # Its turn ended, but the notice of that end was held.
        return "stop" if event.payload.needs_person else None
    return _KIND_OF_EVENT.get(event.name)


def parse_endpoint(endpoint: str) -> EgressTarget:
    """Return the host and port of the push service in C{endpoint}.

    @raise EgressRefused: the URL is not https, contains a literal IP address, or a name that is not
        allowed.
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
    """Return the subscription that a browser sent, after checks.

    @param origin: the request's Origin header; C{None} if absent.
    @param at: Unix milliseconds.
    @raise ServiceError: 400 for the field that is not valid; the text never contains the endpoint.
    """
    try:
        parse_endpoint(endpoint)
    except EgressRefused as error:
        raise make_field_error("endpoint", str(error)) from None
    if not _is_curve_point(_decode_field("keys.p256dh", p256dh, POINT_BYTES)):
        raise make_field_error("keys.p256dh", "must be an uncompressed point of P-256")
    _decode_field("keys.auth", auth, AUTH_BYTES)
    return Subscription(
        endpoint=endpoint,
        owner=owner,
        p256dh=p256dh,
        auth=auth,
        subject=choose_contact(origin),
        created_at=at,
    )


def choose_contact(origin: str | None) -> str:
    """Return the address of the page as contact if it is public, otherwise a fixed one."""
    found = _SECURE_ORIGIN.fullmatch((origin or "").lower())
    return found[1] if found else FALLBACK_SUBJECT


def decode_base64url(text: str) -> bytes:
    """Decode base64url text, with or without padding.

    @raise ValueError: the text is malformed.
    """
    if not _BASE64URL.fullmatch(text):
        raise ValueError("malformed base64url")
    bare = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        raise ValueError("malformed base64url") from None


def _is_curve_point(key: bytes) -> bool:
    """Return true if the key is an uncompressed point of P-256, as encryption needs."""
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
        raise make_field_error(name, f"must be {size} bytes in base64url")
    return found


def choose_session_name(event: Event, known: str | None) -> str:
    """Return the session's current name, or the name in the event if the session was deleted."""
    told = event.payload
    return known or (told.session_name if isinstance(told, ApprovalPayload) else "")
