"""Record of a web tab, and rules for its URLs (protocol-webtabs)."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes, urlsplit

from attrs import frozen

PREFIX = "/webview/"
KIND = "webview"
"""Kind of capability under which tokens for web tabs are issued."""
MOST = 50
"""Maximum number of web tabs of one account."""
NAME_LENGTH, URL_LENGTH, ICON_LENGTH = 60, 2000, 64
SOCKETS, REQUESTS = 8, 64
"""Limits of concurrent WebSockets and requests with one token."""

_WORD = re.compile(r"[A-Za-z0-9_-]{32}")
_BAD = re.compile(rb"[\x00-\x20\x7f\\]")


@frozen(kw_only=True)
class WebView:
    """Web tab of one account.

    @ivar created_at: Unix milliseconds, as for C{last_opened_at}.
    """

    id: str
    owner: str
    name: str
    url: str
    icon: str | None
    created_at: int
    last_opened_at: int | None = None


def parse_token(path: str) -> str | None:
    """Return the token at the beginning of a path below L{PREFIX}, or C{None} for other paths."""
    if not path.startswith(PREFIX):
        return None
    word = path[len(PREFIX) :].partition("/")[0]
    return word if _WORD.fullmatch(word) else None


def parse_referer_token(referer: str | None, host: str, base: str = "") -> str | None:
    """Return the token in a C{Referer} header, or C{None} if it is not a web tab's page on this
    host.

    @param host: value of the request's C{Host} header.
    @param base: path prefix of the service.
    """
    try:
        parts = urlsplit(referer or "")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        return None
    return parse_token(parts.path.removeprefix(base))


def get_target_resource(uri: bytes, token: str) -> bytes | None:
    """Return the path and query of C{uri} to request from the target, unchanged.

    @return: C{None} if another parser could resolve the path to a location outside the token's
        prefix.
    """
    path, mark, query = uri.partition(b"?")
    _, found, rest = path.partition(f"{PREFIX}{token}".encode())
    if not found:
        return None
    rest = rest or b"/"
    if not rest.startswith(b"/") or rest.startswith(b"//") or _BAD.search(path + query):
        return None
    for segment in rest.split(b"/"):
        plain = unquote_to_bytes(segment)
        if plain in (b".", b"..") or _BAD.search(plain.replace(b" ", b"")):
            return None
        if b"/" in plain and (b"../" in plain or b"/.." in plain):
            return None
    return rest + mark + query
