"""Access to web tabs by a token, and limits of concurrent use (protocol-capabilities)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from attrs import frozen

from tservice.core.authentication import AuthenticationRequest
from tservice.core.identity import Identity
from tservice.http.envelope import HttpResponse, bare_refusal
from tservice.http.operations import OperationCall
from tservice.http.request import ServiceRequest
from tservice.webviews import rewriting
from tservice.webviews.model import KIND, PREFIX, REQUESTS, SOCKETS, referred, resource_of
from tservice.webviews.routes.relay import Passage, Relay
from tservice.webviews.routes.tunnel import splice

RECOVERY = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Lost page</title>
<h1>This page has left its web tab</h1>
<p>It went to an address outside of the web tab. Go back, or open the web tab again.</p>
</html>
"""
FRAMES = ("iframe", "frame")
UPGRADE = "UPGRADE"
"""Method name that represents a WebSocket where methods are checked."""


class Found(Protocol):
    """Capability of a valid token."""

    @property
    def subject(self) -> str: ...
    @property
    def username(self) -> str: ...


class OpenWords(Protocol):
    """Registry of valid tokens (L{tservice.access.capabilities.CapabilityRegistry})."""

    def find_grant(self, kind: str, word: str) -> Any:
        """Return the capability of a token; C{None} if it is invalid."""

    def register_connection(self, found: Any, cut: Callable[[], object]) -> Callable[[], None]:
        """Call C{cut} when the token becomes invalid; the returned function cancels this."""


@frozen(kw_only=True)
class Doorway:
    """Dependencies of the capability routes.

    @ivar words: registry of valid tokens.
    @ivar url_of: returns the saved URL of a tab; C{None}: it was removed.
    @ivar recognise: returns the identity of a request's credentials; C{None}: there are none.
        Wrong ones are refused.
    @ivar ancestors: returns the origins that may frame content of a Host.
    @ivar apart: true for the web tab listener, where there is no sign-in.
    """

    words: OpenWords
    url_of: Callable[[str], str | None]
    recognise: Callable[[AuthenticationRequest], Awaitable[Identity | None]]
    ancestors: Callable[[str], Sequence[str]]
    apart: bool = False


class Entrance:
    """Routes of requests to web tabs."""

    def __init__(self, doorway: Doorway, relay: Relay) -> None:
        self._doorway, self._relay = doorway, relay
        self._requests: Counter[str] = Counter()
        self._sockets: Counter[str] = Counter()

    async def enter(self, call: OperationCall) -> None:
        """Handle a request with a token.

        @raise Refusal: plain text: 403 for an invalid token, or another user's; 400 for a path that
            leads outside; 429 for too many at a time; 502.
        """
        request: Any = call.request
        word = call.path["capability"]
        resource = resource_of(request.uri, word)
        if resource is None:
            raise bare_refusal(400, "Bad Request: the path leads out of the web tab")
        found = self._found(word)
        # After a sign-out, or a change of the tab's URL, abort the open request.
        over = self._doorway.words.register_connection(found, request.abort)
        try:
            request.site.share(request, found.username)
            passage = await self._passage(request.visit, word, found, resource)
            if (call.get_header("service-worker") or "").lower() == "script":
                raise bare_refusal(403, "Forbidden: no service worker from a web tab")
            await self._pass(call, word, passage)
        finally:
            over()

    async def _pass(self, call: OperationCall, word: str, passage: Passage) -> None:
        request: Any = call.request
        upgrade = request.visit.upgrade
        counts, most = (self._sockets, SOCKETS) if upgrade else (self._requests, REQUESTS)
        with _counted(counts, word, most), self._relay.relayed.hold(passage.owner):
            if upgrade:
                self._relay.refuse_writing(UPGRADE, passage)
                await splice(call, passage, self._relay.upstream, self._relay.cookies)
            else:
                await self._relay.pass_on(call, passage)

    def strayed(self, request: ServiceRequest) -> HttpResponse | None:
        """Return the answer to a request of a web tab's page that lost its prefix; C{None} for
        other requests.

        Frames get a page that explains it.  Subresources are redirected to their place, so that
        content of a target is never served at a path of the service.
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
        if self._doorway.words.find_grant(KIND, word) is None:
            return None
        uri = request.uri.decode("ascii", "replace")
        if visit.base and uri.startswith(visit.base + "/"):
            uri = uri[len(visit.base) :]
        place = {"Location": f"{visit.base}{PREFIX}{word}{uri}"}
        return _response(307, b"", self._doorway.ancestors(visit.host), place)

    def _found(self, word: str) -> Found:
        found: Found | None = self._doorway.words.find_grant(KIND, word)
        if found is None:
            raise bare_refusal(403, "Forbidden: this web tab is no longer open")
        return found

    async def _passage(
        self, visit: AuthenticationRequest, word: str, found: Found, resource: bytes
    ) -> Passage:
        # Without sign-in, a password sent by a page's script is meant for the target: tried here,
        # it would count as a failed sign-in of the viewer.
        who = None if self._doorway.apart else await self._doorway.recognise(visit)
        if who is not None and who.username != found.username:
            raise bare_refusal(403, "Forbidden: this web tab belongs to another user")
        url = self._doorway.url_of(found.subject)
        if url is None:
            raise bare_refusal(403, "Forbidden: this web tab is no longer open")
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
) -> HttpResponse:
    headers = {**rewriting.fence(ancestors), "Cache-Control": "no-store", **(more or {})}
    return HttpResponse(
        status=status, content=content, content_type="text/html; charset=utf-8", headers=headers
    )


@contextmanager
def _counted(counts: Counter[str], word: str, most: int) -> Iterator[None]:
    if counts[word] >= most:
        raise bare_refusal(
            429, "Too Many Requests: the limit of this web tab is reached", {"Retry-After": "1"}
        )
    counts[word] += 1
    try:
        yield
    finally:
        counts[word] -= 1
        if not counts[word]:
            del counts[word]
