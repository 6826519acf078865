"""Cookies of a target, kept for what its page asks (protocol-webtabs).

A browser sends none along with what the scripts of a page without an origin ask.  They are held in
memory, for one capability each, and end with the service.
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
"""So many capabilities have cookies, so many each, of so many characters; the oldest go first."""
TOLD = 20
"""Cookies of a capability that the browser is told of as well.  It keeps 180 of a host, whatever
their port and path, and those of the service would be among the first to go."""

_AGE = re.compile("-?[0-9]+")


@frozen(kw_only=True)
class Cookie:
    """One of a target's.

    @ivar pair: C{name=value}.
    @ivar path: below which it is sent.
    @ivar hidden: scripts may not read it (C{HttpOnly}).
    """

    pair: str
    path: str
    hidden: bool


class Jar:
    """The cookies of one capability."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], Cookie] = OrderedDict()
        self._told: set[tuple[str, str]] = set()

    def take(self, header: str, refused: Collection[str] = ()) -> None:
        """What a C{Set-Cookie} says; what makes no sense is passed over.

        @param refused: names of the service's own.
        """
        pair, name, path, attributes = _parts(header)
        if not name or name in refused or len(pair) > COOKIE_BYTES:
            return
        self._kept.pop((name, path), None)
        if not self._over(attributes):
            hidden = "httponly" in attributes
            self._kept[name, path] = Cookie(pair=pair, path=path, hidden=hidden)
        if len(self._kept) > COOKIES:
            self._kept.popitem(last=False)

    def tells(self, header: str) -> bool:
        """Whether the browser is to hear of this C{Set-Cookie}: of L{TOLD} cookies and no more."""
        _, name, path, _ = _parts(header)
        if len(self._told) < TOLD:
            self._told.add((name, path))
        return (name, path) in self._told

    def sent(self, path: str) -> str:
        """A C{Cookie} header for a path of the target's; empty without one."""
        return "; ".join(each.pair for each in self._for(path))

    def readable(self, path: str) -> str:
        """What a script at that path may read."""
        return "; ".join(each.pair for each in self._for(path) if not each.hidden)

    def _for(self, path: str) -> list[Cookie]:
        found = [each for each in self._kept.values() if covers(each.path, path)]
        return sorted(found, key=lambda each: -len(each.path))

    def _over(self, attributes: dict[str, str]) -> bool:
        age = attributes.get("max-age", "")
        if _AGE.fullmatch(age):
            return age.startswith("-") or not age.strip("0")
        try:
            ends = parsedate_to_datetime(attributes.get("expires", "")).timestamp()
        except (ValueError, OverflowError):
            return False
        return ends * 1000 <= now_ms(self._clock)


class Jars:
    """The cookies of all capabilities."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._jars: OrderedDict[str, Jar] = OrderedDict()

    def of(self, word: str) -> Jar:
        """That of a capability, which is known to be good."""
        jar = self._jars.setdefault(word, Jar(self._clock))
        self._jars.move_to_end(word)
        if len(self._jars) > JARS:
            self._jars.popitem(last=False)
        return jar


def covers(cookie: str, path: str) -> bool:
    """Whether a cookie of that path is sent to another (RFC 6265, 5.1.4)."""
    return path == cookie or path.startswith(cookie.rstrip("/") + "/")


def _parts(header: str) -> tuple[str, str, str, dict[str, str]]:
    """The pair of a C{Set-Cookie}, its name (empty: it is none), its path, and all attributes."""
    pair, *rest = (piece.strip() for piece in header.split(";"))
    name, equals, _ = pair.partition("=")
    found = (piece.partition("=") for piece in rest)
    attributes = {key.strip().lower(): value.strip() for key, _, value in found}
    path = attributes.get("path", "/")
    return pair, name if equals else "", path if path.startswith("/") else "/", attributes
