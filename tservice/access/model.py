"""Cookie sessions: their record, and the rules that need nothing else (protocol-cookies)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest

from attrs import frozen

from tservice.access.browser_detection import is_from_page
from tservice.core.authentication import AuthenticationRequest

COOKIE = "service_session"
TTL_SECONDS = 24 * 60 * 60
"""Lifetime of a session after its last request (protocol-cookies)."""

LIFETIME_SECONDS = 30 * 24 * 60 * 60
"""Longest lifetime of a session, regardless of its requests (protocol-cookies)."""

MAX_SESSIONS = 100
"""Limit on the number of sessions; the oldest is removed (protocol-cookies)."""

MAX_AGENT = 256
"""Length to which a User-Agent is cut."""


@frozen(kw_only=True)
class CookieSession:
    """Session of a browser or program that signed in.

    @ivar id: identifies the session for admins; not the cookie.
    @ivar token_hash: SHA-256 of the cookie's value.
    @ivar key_hash: SHA-256 of the page key, without which a browser's cookie is invalid; C{None}: a
        program's session, which needs none.
    @ivar seal: seal of the password that it was opened with.
    @ivar method: how it was opened: C{login}, C{basic} or C{qr}.
    @ivar created_at: Unix milliseconds.
    @ivar expires_at: Unix milliseconds.
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

    def opens_for(self, visit: AuthenticationRequest) -> bool:
        """Return whether the cookie in C{visit} is presented by the client that received it.

        The need for a key was decided when the session was opened, because a thief can imitate a
        program.
        """
        if self.key_hash is None:
            # A page that presents a program's cookie got it from an attacker.
            return not is_from_page(visit)
        return visit.key is not None and compare_digest(self.key_hash, hash_cookie(visit.key))


@frozen(kw_only=True)
class OpenedSession:
    """Session that was just opened, with the values that are only stored as hashes.

    @ivar token: the cookie's value.
    @ivar key: the page key; C{None}: it is not sent to the caller.
    """

    id: str
    token: str
    key: str | None


SCANNED_KEY_PREFIX = "qr-"
"""Prefix of the page key of a session that was opened by a scanned code.

A page adds it to a key from its address.  Therefore no link can lead a page into a session whose
key an attacker got at a login.
"""


def hash_cookie(token: str) -> bytes:
    """Return the stored hash of a cookie's value.

    It is random and long, so one round of a fast hash is enough.
    """
    return hashlib.sha256(token.encode()).digest()


def set_cookie(token: str, visit: AuthenticationRequest, seconds: int = TTL_SECONDS) -> str:
    """Return the C{Set-TargetCookie} that opens or extends a session (protocol-cookies).

    @param seconds: until the session ends without a further request.
    """
    return _format_cookie(token, seconds, visit)


def clear_cookie(visit: AuthenticationRequest) -> str:
    """Return the C{Set-TargetCookie} that ends a session."""
    return _format_cookie("", 0, visit)


def _format_cookie(value: str, seconds: int, visit: AuthenticationRequest) -> str:
    path = visit.base or "/"
    parts = [f"{COOKIE}={value}", f"Path={path}", "HttpOnly", "SameSite=Lax", f"Max-Age={seconds}"]
    return "; ".join([*parts, "Secure"] if visit.secure else parts)
