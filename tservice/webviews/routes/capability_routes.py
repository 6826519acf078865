"""Access to web tabs by a token in the URL, and limits of concurrent use
(protocol-capabilities).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from attrs import frozen

from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.http.envelope import HttpResponse, make_bare_refusal
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, ResponseStyle
from tservice.http.request import ServiceRequest
from tservice.webviews import rewriting
from tservice.webviews.model import (
    KIND,
    PREFIX,
    REQUESTS,
    SOCKETS,
    get_target_resource,
    parse_referer_token,
)
from tservice.webviews.routes.relay import RelayContext, RequestRelay
from tservice.webviews.routes.websocket_relay import relay_websocket

UPLOAD_BYTES = 1024**4
"""Maximum size in bytes of the body of one relayed request."""
RECOVERY = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Lost page</title>
<h1>This page has left its web tab</h1>
<p>It went to an address outside of the web tab. Go back, or open the web tab again.</p>
</html>
"""
FRAMES = ("iframe", "frame")
UPGRADE = "UPGRADE"
"""Name that represents a WebSocket in checks of the HTTP method."""


class OpenedCapability(Protocol):
    """Permission that a valid token gives."""

    @property
    def subject(self) -> str: ...
    @property
    def username(self) -> str: ...


class OpenCapabilities(Protocol):
    """Registry of valid tokens (L{tservice.access.capabilities.CapabilityRegistry})."""

    def find_grant(self, kind: str, token: str) -> Any:
        """Return the capability of a token, or C{None} if the token is invalid."""

    def register_connection(self, found: Any, cut: Callable[[], object]) -> Callable[[], None]:
        """Call C{cut} when the token becomes invalid. Return a function that cancels this."""


@frozen(kw_only=True)
class CapabilityResolver:
    """Dependencies of the capability routes.

    @ivar capabilities: registry of valid tokens.
    @ivar url_of: returns the saved URL of a web tab, or C{None} if the tab was removed.
    @ivar recognise: returns the identity for a request's credentials, or C{None} if there are none.
        Wrong credentials are refused.
    @ivar ancestors: returns the origins that may embed content in a frame, by the C{Host} header.
    @ivar is_isolated: true for the separate origin, which has no sign-in.
    """

    capabilities: OpenCapabilities
    url_of: Callable[[str], str | None]
    recognise: Callable[[AuthenticationRequest], Awaitable[Identity | None]]
    ancestors: Callable[[str], Sequence[str]]
    is_isolated: bool = False


class CapabilityRoutes:
    """Routes of requests to web tabs."""

    def __init__(self, resolver: CapabilityResolver, relay: RequestRelay) -> None:
        self._resolver, self._relay = resolver, relay
        self._requests: Counter[str] = Counter()
        self._sockets: Counter[str] = Counter()

    @operation(
        "ANY",
        "/webview/{capability}/{rest:path}",
        tag="Web tabs",
        access=AccessRule.CAPABILITY,
        scope_reason="Only the token in the path is checked.",
        style=ResponseStyle.STREAM,
        media_type="*/*",
        body_limit=UPLOAD_BYTES,
        streams=True,
        any_body=True,
        audit=AuditMode.NONE,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.FORBIDDEN),
    )
    async def handle_request(self, call: OperationCall) -> None:
        """Relay a request to the target of a web tab.

        @raise HttpRefusal: in plain text. 403 for an invalid token, or that of another user; 400
            for a path that leads outside; 429 for too many concurrent requests; 502 if the target
            fails.
        """
        request: Any = call.request
        word = call.path["capability"]
        resource = get_target_resource(request.uri, word)
        if resource is None:
            raise make_bare_refusal(400, "Bad Request: the path leads out of the web tab")
        found = self._require_capability(word)
        # After a sign-out, or a change of the tab's URL, abort the open request.
        over = self._resolver.capabilities.register_connection(found, request.abort)
        try:
            request.site.count_for_account(request, found.username)
            passage = await self._make_context(request.visit, word, found, resource)
            if (call.get_header("service-worker") or "").lower() == "script":
                raise make_bare_refusal(403, "Forbidden: no service worker from a web tab")
            await self._relay_request(call, word, passage)
        finally:
            over()

    async def _relay_request(self, call: OperationCall, word: str, passage: RelayContext) -> None:
        request: Any = call.request
        upgrade = request.visit.upgrade
        counts, most = (self._sockets, SOCKETS) if upgrade else (self._requests, REQUESTS)
        with (
            _limit_concurrency(counts, word, most),
            self._relay.relayed.hold_connection_slot(passage.owner),
        ):
            if upgrade:
                self._relay.refuse_writing(UPGRADE, passage)
                await relay_websocket(call, passage, self._relay.upstream, self._relay.cookies)
            else:
                await self._relay.relay_request(call, passage)

    def redirect_stray(self, request: ServiceRequest) -> HttpResponse | None:
        """Respond to a request from a web tab's page whose URL lacks the token's prefix.

        Frames get a page with an explanation. Other requests are redirected to the URL below the
        prefix, so that content of a target is never served at a path of the service.

        @return: C{None} for requests that do not come from a web tab's page.
        """
        visit = request.visit
        if visit.upgrade or visit.method not in ("GET", "HEAD") or visit.path is None:
            return None
        if visit.path.startswith(("/ws/", "/q/", "/api/", PREFIX)):
            return None
        word = parse_referer_token(visit.header("referer"), visit.host, visit.base)
        if word is None:
            return None
        if visit.header("sec-fetch-dest") in FRAMES:
            return _make_response(404, RECOVERY, self._resolver.ancestors(visit.host))
        if self._resolver.capabilities.find_grant(KIND, word) is None:
            return None
        uri = request.uri.decode("ascii", "replace")
        if visit.base and uri.startswith(visit.base + "/"):
            uri = uri[len(visit.base) :]
        place = {"Location": f"{visit.base}{PREFIX}{word}{uri}"}
        return _make_response(307, b"", self._resolver.ancestors(visit.host), place)

    def _require_capability(self, word: str) -> OpenedCapability:
        found: OpenedCapability | None = self._resolver.capabilities.find_grant(KIND, word)
        if found is None:
            raise make_bare_refusal(403, "Forbidden: this web tab is no longer open")
        return found

    async def _make_context(
        self, visit: AuthenticationRequest, word: str, found: OpenedCapability, resource: bytes
    ) -> RelayContext:
        # Without sign-in, a password sent by a page's script is meant for the target: tried here,
        # it would count as a failed sign-in of the viewer.
        who = None if self._resolver.is_isolated else await self._resolver.recognise(visit)
        if who is not None and who.username != found.username:
            raise make_bare_refusal(403, "Forbidden: this web tab belongs to another user")
        url = self._resolver.url_of(found.subject)
        if url is None:
            raise make_bare_refusal(403, "Forbidden: this web tab is no longer open")
        return RelayContext(
            target=self._relay.upstream.parse_target_url(url, found.username),
            resource=resource,
            prefix=f"{visit.base}{PREFIX}{word}",
            ancestors=self._resolver.ancestors(visit.host),
            destination=visit.header("sec-fetch-dest"),
            jar=self._relay.jars.get_jar(word),
            pin=self._relay.pins.get_pin(word),
            owner=found.username,
            is_isolated=self._resolver.is_isolated,
        )


def _make_response(
    status: int, content: bytes, ancestors: Sequence[str], more: dict[str, str] | None = None
) -> HttpResponse:
    headers = {
        **rewriting.build_isolation_headers(ancestors),
        "Cache-Control": "no-store",
        **(more or {}),
    }
    return HttpResponse(
        status=status, content=content, content_type="text/html; charset=utf-8", headers=headers
    )


@contextmanager
def _limit_concurrency(counts: Counter[str], word: str, most: int) -> Iterator[None]:
    if counts[word] >= most:
        raise make_bare_refusal(
            429, "Too Many Requests: the limit of this web tab is reached", {"Retry-After": "1"}
        )
    counts[word] += 1
    try:
        yield
    finally:
        counts[word] -= 1
        if not counts[word]:
            del counts[word]
