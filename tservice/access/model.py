"""Cookie sessions: the record, and rules that depend on nothing else (protocol-cookies)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest

from attrs import frozen

from tservice.access.browser_detection import is_from_page
from tservice.core.callers.authentication import AuthenticationRequest

COOKIE = "service_session"
TTL_SECONDS = 24 * 60 * 60
"""Lifetime of a session in seconds after its last request (protocol-cookies)."""

LIFETIME_SECONDS = 30 * 24 * 60 * 60
"""Maximum lifetime of a session in seconds, regardless of its requests (protocol-cookies)."""

MAX_SESSIONS = 100
"""Maximum number of sessions; beyond that an old one is ended (protocol-cookies)."""

MAX_AGENT = 256
"""Number of characters of a User-Agent header that are stored."""


@frozen(kw_only=True)
class CookieSession:
    """Session of a browser or program that signed in.

    @ivar id: id that identifies the session for admins; it is not the cookie.
    @ivar token_hash: SHA-256 of the cookie's value.
    @ivar key_hash: SHA-256 of the page key, without which a browser's cookie is invalid.  C{None}
        for a program's session, which needs no key.
    @ivar seal: value that identifies the password with which the user signed in.
    @ivar method: the way of signing in: C{login}, C{basic} or C{qr}.
    @ivar created_at: time of the sign-in in Unix milliseconds.
    @ivar expires_at: time of expiry in Unix milliseconds.
    """

    id: str
    token_hash: bytes
    key_hash: bytes | None
    seal: bytes
    username: str
    method: str
    address: str
    user_agent: str
    created_at: int
    expires_at: int

    def is_request_of_same_client(self, visit: AuthenticationRequest) -> bool:
        """Return whether the cookie in C{visit} comes from the client that received it.

        A browser proves this by the page key.  Whether a key is needed was decided when the session
        was opened, because a thief can imitate a program.
        """
        if self.key_hash is None:
            # A page that presents a program's cookie got it from an attacker.
            return not is_from_page(visit)
        return visit.key is not None and compare_digest(self.key_hash, hash_cookie(visit.key))


@frozen(kw_only=True)
class OpenedSession:
    """Session that was just opened, with the values that are only stored as hashes.

    @ivar token: the cookie's value.
    @ivar key: the page key.  C{None} if it is not sent to the caller.
    """

    id: str
    token: str
    key: str | None


SCANNED_KEY_PREFIX = "qr-"
"""Prefix of the page key of a session that was opened by scanning a QR code.

A page adds the prefix to a key from its own address.  Therefore no link can lead a page into a
session whose key an attacker got at a login.
"""


def hash_cookie(token: str) -> bytes:
    """Return the hash of a cookie's value, as it is stored.

    The value is random and long, so one round of a fast hash is enough.
    """
    return hashlib.sha256(token.encode()).digest()


def format_session_cookie(
    token: str, visit: AuthenticationRequest, seconds: int = TTL_SECONDS
) -> str:
    """Return the C{Set-Cookie} header that opens or extends a session (protocol-cookies).

    @param seconds: seconds until the session expires if no further request arrives.
    """
    return _format_cookie(token, seconds, visit)


def format_cleared_cookie(visit: AuthenticationRequest) -> str:
    """Return the C{Set-Cookie} header that ends a session."""
    return _format_cookie("", 0, visit)


def _format_cookie(value: str, seconds: int, visit: AuthenticationRequest) -> str:
    path = visit.base or "/"
    parts = [f"{COOKIE}={value}", f"Path={path}", "HttpOnly", "SameSite=Lax", f"Max-Age={seconds}"]
    return "; ".join([*parts, "Secure"] if visit.secure else parts)
