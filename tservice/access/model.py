"""Cookie sessions: their record, and the rules that need nothing else (wire 15)."""

from __future__ import annotations

import hashlib

from attrs import frozen

COOKIE = "service_session"
TTL_SECONDS = 24 * 60 * 60
"""A session ends so long after its last request (wire 15)."""

MAX_SESSIONS = 100
"""Sessions at a time; the oldest goes (wire 15)."""

MAX_AGENT = 256
"""Characters of a User-Agent that are kept."""


@frozen(kw_only=True)
class CookieSession:
    """One signed-in browser or program.

    @ivar id: names the session to admins; not the cookie.
    @ivar token_hash: SHA-256 of the cookie's value.
    @ivar method: how it began: C{login}, C{basic} or C{qr}.
    @ivar created_at: Unix milliseconds.
    @ivar expires_at: Unix milliseconds.
    """

    id: str
    token_hash: bytes
    username: str
    method: str
    address: str
    user_agent: str
    created_at: int
    expires_at: int


def digest(token: str) -> bytes:
    """What is kept of a cookie's value.

    It is random and long, so one round of a fast hash is enough.
    """
    return hashlib.sha256(token.encode()).digest()


def set_cookie(token: str, secure: bool) -> str:
    """The C{Set-Cookie} that opens or extends a session (interface.md Authentication 2)."""
    return _cookie(token, TTL_SECONDS, secure)


def clear_cookie(secure: bool) -> str:
    """The C{Set-Cookie} that ends one."""
    return _cookie("", 0, secure)


def _cookie(value: str, seconds: int, secure: bool) -> str:
    parts = [f"{COOKIE}={value}", "Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={seconds}"]
    return "; ".join([*parts, "Secure"] if secure else parts)
