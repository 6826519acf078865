"""Cookies set by a target, stored on behalf of its page (protocol-webtabs).

The page has no origin, so a browser sends no cookies with its scripts' requests. The cookies are
kept in memory, separately for each token, until the service stops.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection
from email.utils import parsedate_to_datetime

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms

JARS, COOKIES, COOKIE_BYTES = 256, 50, 4096
"""Limits of tokens with cookies, of cookies of each, and of characters; the oldest go first."""
FORWARDED_LIMIT = 20
"""Maximum number of cookies of a token that are also sent to the browser.

A browser keeps 180 cookies for a host, for all ports and paths. It would drop the service's own
cookies early.
"""

_AGE = re.compile("-?[0-9]+")


@frozen(kw_only=True)
class TargetCookie:
    """Cookie set by a target.

    @ivar pair: name and value as C{name=value}.
    @ivar path: path below which the cookie is sent.
    @ivar hidden: true if scripts may not read the cookie (C{HttpOnly}).
    """

    pair: str
    path: str
    hidden: bool


class CookieJar:
    """Cookies that a target has set for one token."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._cookies: OrderedDict[tuple[str, str], TargetCookie] = OrderedDict()
        self._forwarded: set[tuple[str, str]] = set()

    def store_cookie(self, header: str, refused: Collection[str] = ()) -> None:
        """Store the cookie in a C{Set-Cookie} header. An invalid header is ignored.

        @param header: value of the header.
        @param refused: names of the service's own cookies, which are not stored.
        """
        pair, name, path, attributes = _parse_cookie(header)
        if not name or name in refused or len(pair) > COOKIE_BYTES:
            return
        self._cookies.pop((name, path), None)
        if not self._has_expired_attributes(attributes):
            hidden = "httponly" in attributes
            self._cookies[name, path] = TargetCookie(pair=pair, path=path, hidden=hidden)
        if len(self._cookies) > COOKIES:
            self._cookies.popitem(last=False)

    def should_forward(self, header: str) -> bool:
        """Return true if a C{Set-Cookie} header is also sent to the browser.

        At most L{FORWARDED_LIMIT} different cookies are.
        """
        _, name, path, _ = _parse_cookie(header)
        if len(self._forwarded) < FORWARDED_LIMIT:
            self._forwarded.add((name, path))
        return (name, path) in self._forwarded

    def build_cookie_header(self, path: str) -> str:
        """Return the value of the C{Cookie} header for a path of the target; empty if no cookie
        matches.
        """
        return "; ".join(each.pair for each in self._matching_cookies(path))

    def list_script_cookies(self, path: str) -> str:
        """Return the cookies that a script of the page at C{path} may read."""
        return "; ".join(each.pair for each in self._matching_cookies(path) if not each.hidden)

    def _matching_cookies(self, path: str) -> list[TargetCookie]:
        found = [each for each in self._cookies.values() if path_matches(each.path, path)]
        return sorted(found, key=lambda each: -len(each.path))

    def _has_expired_attributes(self, attributes: dict[str, str]) -> bool:
        age = attributes.get("max-age", "")
        if _AGE.fullmatch(age):
            return age.startswith("-") or not age.strip("0")
        try:
            ends = parsedate_to_datetime(attributes.get("expires", "")).timestamp()
        except (ValueError, OverflowError):
            return False
        return ends * 1000 <= get_unix_ms(self._clock)


class CookieJars:
    """Cookie jars of all tokens."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._jars: OrderedDict[str, CookieJar] = OrderedDict()

    def get_jar(self, token: str) -> CookieJar:
        """Return the cookie jar of a valid token, and create it if needed."""
        jar = self._jars.setdefault(token, CookieJar(self._clock))
        self._jars.move_to_end(token)
        if len(self._jars) > JARS:
            self._jars.popitem(last=False)
        return jar


def path_matches(cookie: str, path: str) -> bool:
    """Return true if a cookie with the path C{cookie} is sent with a request for C{path} (RFC 6265,
    5.1.4).
    """
    return path == cookie or path.startswith(cookie.rstrip("/") + "/")


def _parse_cookie(header: str) -> tuple[str, str, str, dict[str, str]]:
    """Parse a C{Set-Cookie} header into name and value, name, path, and all attributes.

    The name is empty if the header is invalid.
    """
    pair, *rest = (piece.strip() for piece in header.split(";"))
    name, equals, _ = pair.partition("=")
    found = (piece.partition("=") for piece in rest)
    attributes = {key.strip().lower(): value.strip() for key, _, value in found}
    path = attributes.get("path", "/")
    return pair, name if equals else "", path if path.startswith("/") else "/", attributes
