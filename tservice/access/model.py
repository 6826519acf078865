"""Cookie sessions: their record, and the rules that need nothing else (protocol-cookies)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest

from attrs import frozen

from tservice.access.browsers import from_page
from tservice.core.authentication import Visit

COOKIE = "service_session"
TTL_SECONDS = 24 * 60 * 60
"""A session ends so long after its last request (protocol-cookies)."""

LIFETIME_SECONDS = 30 * 24 * 60 * 60
"""A session ends so long after its beginning, whatever its requests (protocol-cookies)."""

MAX_SESSIONS = 100
"""Sessions at a time; the oldest goes (protocol-cookies)."""

MAX_AGENT = 256
"""Characters of a User-Agent that are kept."""


@frozen(kw_only=True)
class CookieSession:
    """One signed-in browser or program.

    @ivar id: names the session to admins; not the cookie.
    @ivar token_hash: SHA-256 of the cookie's value.
    @ivar key_hash: SHA-256 of the key without which a browser's cookie opens nothing; C{None}: a
        program's, which needs none.
    @ivar seal: of the password that it was made under.
    @ivar method: how it began: C{login}, C{basic} or C{qr}.
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

    def opens_for(self, visit: Visit) -> bool:
        """Whether its cookie, which C{visit} shows, is shown by whom it was given to.

        Which session needs a key was settled when it was made: a thief asks as a program does.
        """
        if self.key_hash is None:
            # A program's cookie that comes from a page was put there by somebody else.
            return not from_page(visit)
        return visit.key is not None and compare_digest(self.key_hash, digest(visit.key))


@frozen(kw_only=True)
class Opened:
    """A session that was just opened, with what is kept only as hashes.

    @ivar token: the cookie's value.
    @ivar key: what its page shows beside it; C{None}: nobody is told one.
    """

    id: str
    token: str
    key: str | None


SCANNED = "qr-"
"""Begins the key of a scanned code's session.

A page puts it before a key that it finds in its address: so no link can lead a page into a session
whose key its maker was told at a login.
"""


def digest(token: str) -> bytes:
    """What is kept of a cookie's value.

    It is random and long, so one round of a fast hash is enough.
    """
    return hashlib.sha256(token.encode()).digest()


def set_cookie(token: str, visit: Visit, seconds: int = TTL_SECONDS) -> str:
    """The C{Set-Cookie} that opens or extends a session (protocol-cookies).

    @param seconds: until the session ends, unless there is another request.
    """
    return _cookie(token, seconds, visit)


def clear_cookie(visit: Visit) -> str:
    """The C{Set-Cookie} that ends one."""
    return _cookie("", 0, visit)


def _cookie(value: str, seconds: int, visit: Visit) -> str:
    path = visit.base or "/"
    parts = [f"{COOKIE}={value}", f"Path={path}", "HttpOnly", "SameSite=Lax", f"Max-Age={seconds}"]
    return "; ".join([*parts, "Secure"] if visit.secure else parts)
