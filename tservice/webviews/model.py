"""Web tabs: their record and pure rules (protocol-webtabs)."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes, urlsplit

from attrs import frozen

PREFIX = "/webview/"
KIND = "webview"
"""The sort of capability."""
MOST = 50
"""Web tabs of an owner."""
NAME_LENGTH, URL_LENGTH, ICON_LENGTH = 60, 2000, 64
SOCKETS, REQUESTS = 8, 64
"""Under way at a time with one capability."""

_WORD = re.compile(r"[A-Za-z0-9_-]{32}")
_BAD = re.compile(rb"[\x00-\x20\x7f\\]")


@frozen(kw_only=True)
class WebView:
    """One web tab.

    @ivar created_at: Unix milliseconds, as C{last_opened_at}.
    """

    id: str
    owner: str
    name: str
    url: str
    icon: str | None
    created_at: int
    last_opened_at: int | None = None


def word_of(path: str) -> str | None:
    """The capability that a path under L{PREFIX} begins with."""
    if not path.startswith(PREFIX):
        return None
    word = path[len(PREFIX) :].partition("/")[0]
    return word if _WORD.fullmatch(word) else None


def referred(referer: str | None, host: str, base: str = "") -> str | None:
    """The capability of the page of this C{host} that C{referer} names."""
    try:
        parts = urlsplit(referer or "")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        return None
    return word_of(parts.path.removeprefix(base))


def resource_of(uri: bytes, word: str) -> bytes | None:
    """Path and query that C{uri} asks the target for, as they were sent.

    @return: C{None} for one that could mean another place to whoever reads it next.
    """
    path, mark, query = uri.partition(b"?")
    _, found, rest = path.partition(f"{PREFIX}{word}".encode())
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
