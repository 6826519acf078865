"""Who may come in by a capability, and how many at a time (protocol-capabilities)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from attrs import frozen

from tservice.core.authentication import Visit
from tservice.core.identity import Identity
from tservice.http.envelope import Response, bare
from tservice.http.operations import Call
from tservice.http.request import Request
from tservice.webviews import rewriting
from tservice.webviews.model import KIND, PREFIX, REQUESTS, SOCKETS, referred, resource_of
from tservice.webviews.routes.relay import Passage, Relay
from tservice.webviews.routes.tunnel import splice

RECOVERY = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Lost page</title>
<h1>This page has left its web tab</h1>
<p>It went to an address that is not its own. Go back, or open the web tab again.</p>
</html>
"""
FRAMES = ("iframe", "frame")
UPGRADE = "UPGRADE"
"""Stands for a WebSocket where methods are judged."""


class Found(Protocol):
    """What a word opens."""

    @property
    def subject(self) -> str: ...
    @property
    def username(self) -> str: ...


class OpenWords(Protocol):
    """Knows words (L{tservice.access.capabilities.CapabilityRegistry})."""

    def find(self, kind: str, word: str) -> Any:
        """What a word opens; C{None}: nothing."""

    def hold(self, found: Any, cut: Callable[[], object]) -> Callable[[], None]:
        """Have C{cut} called when the word is void; what it returns says that this is over."""


@frozen(kw_only=True)
class Doorway:
    """What the entrance is handed.

    @ivar words: what they open.
    @ivar url_of: the saved URL of a tab; C{None}: it is gone.
    @ivar recognise: whose credentials a request shows; C{None}: nobody's.  Wrong ones are refused.
    @ivar ancestors: who may hold what is served to a Host in a frame.
    @ivar apart: it is that of the listener of web tabs, where nobody signs in.
    """

    words: OpenWords
    url_of: Callable[[str], str | None]
    recognise: Callable[[Visit], Awaitable[Identity | None]]
    ancestors: Callable[[str], Sequence[str]]
    apart: bool = False


class Entrance:
    """Takes requests of web tabs."""

    def __init__(self, doorway: Doorway, relay: Relay) -> None:
        self._doorway, self._relay = doorway, relay
        self._requests: Counter[str] = Counter()
        self._sockets: Counter[str] = Counter()

    async def enter(self, call: Call) -> None:
        """A request under a capability.

        @raise Refusal: bare text: 403 for a word that opens nothing, or somebody else's; 400 for
            a path that leads out; 429 for too many at a time; 502.
        """
        request: Any = call.request
        word = call.path["capability"]
        resource = resource_of(request.uri, word)
        if resource is None:
            raise bare(400, "Bad Request: the path leads out of the web tab")
        found = self._found(word)
        # Signed out, or the tab leads elsewhere: what is open goes in that moment.
        over = self._doorway.words.hold(found, request.abort)
        try:
            request.site.share(request, found.username)
            passage = await self._passage(request.visit, word, found, resource)
            if (call.header("service-worker") or "").lower() == "script":
                raise bare(403, "Forbidden: no service worker from a web tab")
            await self._pass(call, word, passage)
        finally:
            over()

    async def _pass(self, call: Call, word: str, passage: Passage) -> None:
        request: Any = call.request
        upgrade = request.visit.upgrade
        counts, most = (self._sockets, SOCKETS) if upgrade else (self._requests, REQUESTS)
        with _counted(counts, word, most), self._relay.relayed.hold(passage.owner):
            if upgrade:
                self._relay.refuse_writing(UPGRADE, passage)
                await splice(call, passage, self._relay.upstream, self._relay.cookies)
            else:
                await self._relay.pass_on(call, passage)

    def strayed(self, request: Request) -> Response | None:
        """The answer to a request of a web tab's page that lost its prefix; C{None}: it is none.

        Frames get a page that says so.  What a page loads is sent to where it belongs, so that
        nothing of a target's is ever served at a path of the service's own.
        """
        visit = request.visit
        if visit.upgrade or visit.method not in ("GET", "HEAD") or visit.path is None:
            return None
        if visit.path.startswith(("/ws/", "/q/", "/api/", PREFIX)):
            return None
        word = referred(visit.header("referer"), visit.host, visit.base)
        if word is None:
            return None
        if visit.header("sec-fetch-dest") in FRAMES:
            return _response(404, RECOVERY, self._doorway.ancestors(visit.host))
        if self._doorway.words.find(KIND, word) is None:
            return None
        uri = request.uri.decode("ascii", "replace")
        if visit.base and uri.startswith(visit.base + "/"):
            uri = uri[len(visit.base) :]
        place = {"Location": f"{visit.base}{PREFIX}{word}{uri}"}
        return _response(307, b"", self._doorway.ancestors(visit.host), place)

    def _found(self, word: str) -> Found:
        found: Found | None = self._doorway.words.find(KIND, word)
        if found is None:
            raise bare(403, "Forbidden: this web tab is not open any more")
        return found

    async def _passage(self, visit: Visit, word: str, found: Found, resource: bytes) -> Passage:
        # Where nobody signs in, a password that a page's script shows is the target's: tried here,
        # it would count against the person who looks at that page.
        who = None if self._doorway.apart else await self._doorway.recognise(visit)
        if who is not None and who.username != found.username:
            raise bare(403, "Forbidden: this web tab is somebody else's")
        url = self._doorway.url_of(found.subject)
        if url is None:
            raise bare(403, "Forbidden: this web tab is not open any more")
        return Passage(
            target=self._relay.upstream.target(url, found.username),
            resource=resource,
            prefix=f"{visit.base}{PREFIX}{word}",
            ancestors=self._doorway.ancestors(visit.host),
            wanted=visit.header("sec-fetch-dest"),
            jar=self._relay.jars.of(word),
            pin=self._relay.pins.of(word),
            owner=found.username,
            apart=self._doorway.apart,
        )


def _response(
    status: int, content: bytes, ancestors: Sequence[str], more: dict[str, str] | None = None
) -> Response:
    headers = {**rewriting.fence(ancestors), "Cache-Control": "no-store", **(more or {})}
    return Response(
        status=status, content=content, content_type="text/html; charset=utf-8", headers=headers
    )


@contextmanager
def _counted(counts: Counter[str], word: str, most: int) -> Iterator[None]:
    if counts[word] >= most:
        raise bare(429, "Too Many Requests: of this web tab", {"Retry-After": "1"})
    counts[word] += 1
    try:
        yield
    finally:
        counts[word] -= 1
        if not counts[word]:
            del counts[word]
