"""Key pair that identifies this service to push services (RFC 8292), and encryption of messages."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path

import http_ece
from attrs import field, frozen
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

from tservice.core.disk.secret_file import load_or_create_secret
from tservice.core.kernel.errors import StartError
from tservice.push.model import (
    LIFETIME_SECONDS,
    PushNote,
    Subscription,
    decode_base64url,
    parse_endpoint,
)

FILE_NAME = "push-key"
SCALAR_BYTES = 32

Random = Callable[[int], bytes]


@frozen(kw_only=True)
class EncryptedMessage:
    """Message that only one browser can decrypt, ready to be sent."""

    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class PushKey:
    """Key pair of the service, on the curve P-256."""

    def __init__(self, private: ec.EllipticCurvePrivateKey) -> None:
        self._private = private

    @property
    def public_point(self) -> str:
        """The public key, base64url without padding: C{applicationServerKey} of the page."""
        point = self._private.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint
        )
        return _encode_base64url(point)

    def encrypt_note(
        self, subscription: Subscription, note: PushNote, now: float
    ) -> EncryptedMessage:
        """Encrypt C{note} for the browser, and sign the request for its push service.

        The method has no side effects, so it may run in a thread.

        @param now: Unix seconds.
        """
        body: bytes = http_ece.encrypt(
            note.make_payload(),
            private_key=ec.generate_private_key(ec.SECP256R1()),
            dh=decode_base64url(subscription.p256dh),
            auth_secret=decode_base64url(subscription.auth),
            version="aes128gcm",
        )
        claims = {
            "aud": parse_endpoint(subscription.endpoint).origin,
            "exp": int(now) + LIFETIME_SECONDS,
            "sub": subscription.subject,
        }
        headers: dict[str, str] = {
            **Vapid02(self._private).sign(claims),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(LIFETIME_SECONDS),
            "Topic": note.topic,
            "Urgency": note.urgency or ("normal" if note.kind in ("stop", "exit") else "high"),
        }
        return EncryptedMessage(headers=headers, body=body)


def load_push_key(data_dir: Path, random: Random) -> PushKey:
    """Return the key pair of this data folder; create it at the first start.

    It must never change, because the subscriptions of browsers are bound to it.

    @raise StartError: the file is not valid or cannot be written, or other users can access it.
    """
    text = load_or_create_secret(
        data_dir / FILE_NAME, lambda: _encode_base64url(_make_scalar(random))
    )
    try:
        scalar = decode_base64url(text)
        if len(scalar) != SCALAR_BYTES:
            raise ValueError
        return PushKey(_derive_private_key(scalar))
    except ValueError:
        raise StartError(
            f"{FILE_NAME}: must hold 32 bytes in base64url; remove it to get a new one"
        ) from None


def _make_scalar(random: Random) -> bytes:
    while True:
        scalar = random(SCALAR_BYTES)
        try:
            _derive_private_key(scalar)
        except ValueError:
            continue  # 0, or not below the order of the curve
        return scalar


def _derive_private_key(scalar: bytes) -> ec.EllipticCurvePrivateKey:
    """Return the private key with the given scalar.

    @raise ValueError: the scalar is no private key of P-256.
    """
    return ec.derive_private_key(int.from_bytes(scalar, "big"), ec.SECP256R1())


def _encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
