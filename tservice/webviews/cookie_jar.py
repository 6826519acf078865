"""Cookies of a target, stored for the requests of its page (protocol-webtabs).

A browser sends no cookies with script requests of a page without an origin.  They are kept in
memory, separately for each token, and end with the service.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection
from email.utils import parsedate_to_datetime

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms

JARS, COOKIES, COOKIE_BYTES = 256, 50, 4096
"""Limits of tokens with cookies, of cookies of each, and of characters; the oldest go first."""
FORWARDED_LIMIT = 20
"""Cookies of a token that are also sent to the browser.  A browser keeps 180 for a host, whatever
their port and path, and those of the service would be among the first to be dropped.
"""

_AGE = re.compile("-?[0-9]+")


@frozen(kw_only=True)
class TargetCookie:
    """Cookie of a target.

    @ivar pair: C{name=value}.
    @ivar path: path below which it is sent.
    @ivar hidden: scripts may not read it (C{HttpOnly}).
    """

    pair: str
    path: str
    hidden: bool


class CookieJar:
    """Cookies of one token."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._cookies: OrderedDict[tuple[str, str], TargetCookie] = OrderedDict()
        self._forwarded: set[tuple[str, str]] = set()

    def store_cookie(self, header: str, refused: Collection[str] = ()) -> None:
        """Store the cookie of a C{Set-TargetCookie} header; an invalid header is ignored.

        @param refused: names of the service's own cookies.
        """
        pair, name, path, attributes = _parse_cookie(header)
        if not name or name in refused or len(pair) > COOKIE_BYTES:
            return
        self._cookies.pop((name, path), None)
        if not self._is_expired(attributes):
            hidden = "httponly" in attributes
            self._cookies[name, path] = TargetCookie(pair=pair, path=path, hidden=hidden)
        if len(self._cookies) > COOKIES:
            self._cookies.popitem(last=False)

    def should_forward(self, header: str) -> bool:
        """Return true if this C{Set-TargetCookie} is forwarded to the browser: for at most
        L{FORWARDED_LIMIT}
        cookies.
        """
        _, name, path, _ = _parse_cookie(header)
        if len(self._forwarded) < FORWARDED_LIMIT:
            self._forwarded.add((name, path))
        return (name, path) in self._forwarded

    def cookie_header(self, path: str) -> str:
        """Return the C{TargetCookie} header for a path of the target; empty without cookies."""
        return "; ".join(each.pair for each in self._matching_cookies(path))

    def script_cookies(self, path: str) -> str:
        """Return the cookies that a script at that path may read."""
        return "; ".join(each.pair for each in self._matching_cookies(path) if not each.hidden)

    def _matching_cookies(self, path: str) -> list[TargetCookie]:
        found = [each for each in self._cookies.values() if path_matches(each.path, path)]
        return sorted(found, key=lambda each: -len(each.path))

    def _is_expired(self, attributes: dict[str, str]) -> bool:
        age = attributes.get("max-age", "")
        if _AGE.fullmatch(age):
            return age.startswith("-") or not age.strip("0")
        try:
            ends = parsedate_to_datetime(attributes.get("expires", "")).timestamp()
        except (ValueError, OverflowError):
            return False
        return ends * 1000 <= now_ms(self._clock)


class CookieJars:
    """Cookies of all tokens."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._jars: OrderedDict[str, CookieJar] = OrderedDict()

    def get_jar(self, token: str) -> CookieJar:
        """Return the jar of a valid token."""
        jar = self._jars.setdefault(token, CookieJar(self._clock))
        self._jars.move_to_end(token)
        if len(self._jars) > JARS:
            self._jars.popitem(last=False)
        return jar


def path_matches(cookie: str, path: str) -> bool:
    """Return true if a cookie of one path is sent to another (RFC 6265, 5.1.4)."""
    return path == cookie or path.startswith(cookie.rstrip("/") + "/")


def _parse_cookie(header: str) -> tuple[str, str, str, dict[str, str]]:
    """Return the pair of a C{Set-TargetCookie}, its name (empty: invalid), its path, and all
    attributes.
    """
    pair, *rest = (piece.strip() for piece in header.split(";"))
    name, equals, _ = pair.partition("=")
    found = (piece.partition("=") for piece in rest)
    attributes = {key.strip().lower(): value.strip() for key, _, value in found}
    path = attributes.get("path", "/")
    return pair, name if equals else "", path if path.startswith("/") else "/", attributes
