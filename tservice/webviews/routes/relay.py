"""Relay of a web tab's request to its target and back (protocol-webtabs)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import CancelledError
from twisted.web._newclient import Request as UpstreamRequest
from twisted.web.http_headers import Headers
from twisted.web.iweb import UNKNOWN_LENGTH

from tservice.core.kernel.clock import wait_seconds
from tservice.core.net.egress import EgressRefused, EgressTarget
from tservice.http.envelope import make_bare_refusal
from tservice.http.operations import OperationCall
from tservice.http.transfer.streamed_response import StreamedResponse
from tservice.webviews import page_script, rewriting
from tservice.webviews.cookie_jar import CookieJar, CookieJars
from tservice.webviews.pinning import AddressPin, AddressPins
from tservice.webviews.rewriting import PIECE, REWRITTEN, Pairs
from tservice.webviews.routes.pacing import PacedConnection
from tservice.webviews.routes.relay_limits import RelayLimits
from tservice.webviews.routes.streamed_bodies import BrowserBody, TargetBody
from tservice.webviews.routes.upstream import TargetConnector, format_host_header
from tservice.webviews.service import WebTabGuard

REFUSED = frozenset({"CONNECT", "TRACE"})
FINAL = range(200, 1000)
"""Valid status codes of a final response. Browsers accept any three digits."""
BODILESS = (204, 304)
PLAIN = (None, "document", "iframe", "frame", "script", "style", "worker")
"""Values of C{Sec-Fetch-Dest} for content that may be rewritten. Compression is not requested for
it.
"""


@frozen(kw_only=True)
class RelayContext:
    """Properties of one relayed request.

    @ivar resource: path and query to request from the target.
    @ivar prefix: path prefix of the token in the service.
    @ivar ancestors: origins that may embed the response in a frame.
    @ivar destination: value of the request's C{Sec-Fetch-Dest} header.
    @ivar jar: cookies that the target has set.
    @ivar pin: restriction of the target's addresses.
    @ivar owner: account that owns the web tab.
    @ivar is_isolated: true if the request came to the separate origin, which has no sign-in.
    """

    target: EgressTarget
    resource: bytes
    prefix: str
    ancestors: Sequence[str]
    destination: str | None
    jar: CookieJar
    pin: AddressPin
    owner: str
    is_isolated: bool

    @property
    def path(self) -> str:
        """Path to request from the target, without the query."""
        return self.resource.partition(b"?")[0].decode("ascii", "replace")

    @property
    def url(self) -> str:
        """URL to request from the target."""
        return f"{self.target.origin}{self.resource.decode('ascii', 'replace')}"


@frozen(kw_only=True)
class RequestRelay:
    """Relay of HTTP requests to targets.

    @ivar cookies: names of the service's own cookies.
    @ivar jars: cookies that targets have set, by token.
    @ivar relayed: limit of concurrent requests.
    @ivar pins: restrictions of the targets' addresses, by token.
    """

    upstream: TargetConnector
    guard: WebTabGuard
    cookies: frozenset[str]
    jars: CookieJars
    relayed: RelayLimits
    pins: AddressPins = field(factory=AddressPins)

    async def relay_request(self, call: OperationCall, passage: RelayContext) -> None:
        """Forward the request to the target, and stream the response to the browser.

        @raise HttpRefusal: 502 in plain text if the target sends no valid response.
        """
        method = call.request.method.decode("ascii")
        if (
            passage.is_isolated
            and method == "OPTIONS"
            and call.get_header("access-control-request-method")
        ):
            answer_preflight(call, passage)
            return
        if method in REFUSED:
            raise make_bare_refusal(400, "Bad Request: method not supported")
        self.refuse_writing(method, passage)
        request: Any = call.request
        paced = partial(PacedConnection, request.site.turns)
        connection = await self.upstream.connect(passage.target, paced, passage.owner, passage.pin)
        try:
            response = await self._send_request(connection, call, passage)
            await self._send_answer(call, passage, response)
        finally:
            connection.transport.abortConnection()

    def refuse_writing(self, method: str, passage: RelayContext) -> None:
        """Refuse a request that may change something if the account may only read.

        @raise HttpRefusal: 403 in plain text.
        """
        if not self.guard.allows_method(method, passage.owner):
            raise make_bare_refusal(
                403, "Forbidden: your account may only read in web tabs (GET and HEAD)"
            )

    async def _send_request(
        self, connection: Any, call: OperationCall, passage: RelayContext
    ) -> Any:
        given = list_header_pairs(call.request.requestHeaders)
        passed = rewriting.rewrite_request_headers(
            given,
            origin=passage.target.origin,
            prefix=passage.prefix,
            cookies=self.cookies,
            plain=passage.destination in PLAIN,
            kept=passage.jar.build_cookie_header(passage.path),
            apart=passage.is_isolated,
        )
        headers = Headers()
        headers.addRawHeader(b"Host", format_host_header(passage.target))
        for name, value in passed:
            headers.addRawHeader(name.encode("latin-1"), value.encode("latin-1", "replace"))
        body, method = get_request_body(call), call.request.method
        asked = UpstreamRequest(method, passage.resource, headers, body, persistent=False)
        try:
            return await connection.request(asked)
        except CancelledError:
            raise
        except Exception:
            if body is not None and body.fault is not None:
                raise body.fault from None
            raise make_bare_refusal(502, "Bad Gateway: the target's answer is invalid") from None
        finally:
            if body is not None:
                body.answered = True

    async def _send_answer(self, call: OperationCall, passage: RelayContext, response: Any) -> None:
        if response.code not in FINAL:
            raise make_bare_refusal(502, "Bad Gateway: the target's answer is invalid")
        given = list_header_pairs(response.headers)
        self._check_redirect(response.code, given, passage)
        for name, value in given:
            if name.lower() == "set-cookie":
                passage.jar.store_cookie(value, self.cookies)
        passed = rewriting.rewrite_response_headers(
            [
                pair
                for pair in given
                if pair[0].lower() != "set-cookie" or passage.jar.should_forward(pair[1])
            ],
            origin=passage.target.origin,
            asked=passage.url,
            prefix=passage.prefix,
            cookies=self.cookies,
        )
        request: Any = call.request
        clear_headers(request)
        for name, value in passed:
            encoded = value.encode("latin-1", "replace")
            request.responseHeaders.addRawHeader(name.encode("latin-1"), encoded)
        fence = rewriting.build_isolation_headers(passage.ancestors)
        body = TargetBody()
        answer = StreamedResponse(request)
        try:
            await self._send_body(answer, body, response, passage, fence)
        finally:
            answer.close()

    async def _send_body(
        self,
        answer: StreamedResponse,
        body: TargetBody,
        response: Any,
        passage: RelayContext,
        fence: dict[str, str],
    ) -> None:
        if answer.head_only or response.code in BODILESS:
            answer.write_head(response.code, fence)
            return
        kind, told = get_rewritable_type(response), response.length
        unknown = told == UNKNOWN_LENGTH or kind is not None
        answer.write_head(
            response.code, fence if unknown else {**fence, "Content-Length": str(told)}
        )
        response.deliverBody(body)
        if kind is None:
            while data := await body.read_chunk():
                await answer.write(data)
        else:
            await self._send_rewritten(kind, answer, body, passage)
        if body.broken:
            # A clean end would mean that the body is complete.
            answer.abort_response()

    async def _send_rewritten(
        self, kind: str, answer: StreamedResponse, body: TargetBody, passage: RelayContext
    ) -> None:
        """Rewrite the body chunk by chunk and send it. Yield to the reactor between chunks."""
        waiting, top = bytearray(), kind == "text/html"
        while data := await body.read_chunk():
            waiting += data
            while len(waiting) > PIECE:
                end = rewriting.get_rewritable_length(kind, waiting)
                await answer.write(rewrite_chunk(kind, bytes(waiting[:end]), passage, top=top))
                top = False
                del waiting[:end]
                await wait_seconds(self.upstream.reactor, 0)
        if waiting:
            await answer.write(rewrite_chunk(kind, bytes(waiting), passage, top=top))

    def _check_redirect(self, status: int, given: Pairs, passage: RelayContext) -> None:
        if not 300 <= status < 400:
            return
        for name, value in given:
            if name.lower() == "location":
                self._check_location(value, passage)

    def _check_location(self, location: str, passage: RelayContext) -> None:
        to = rewriting.rewrite_location(
            location, passage.target.origin, passage.url, passage.prefix
        )
        if to.startswith(passage.prefix + "/"):
            return
        try:
            self.guard.check_target(to.partition("#")[0], passage.owner)
        except EgressRefused as refused:
            raise make_bare_refusal(502, f"Bad Gateway: a redirect {refused}") from None


def list_header_pairs(headers: Headers) -> Pairs:
    """Return the headers as pairs of name and value."""
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.getAllRawHeaders()
        for value in values
    ]


def answer_preflight(call: OperationCall, passage: RelayContext) -> None:
    """Permit a CORS preflight from a page to its own target, regardless of the target's own
    rules.
    """
    clear_headers(call.request)
    answer = StreamedResponse(call.request)
    asked = call.get_header("access-control-request-headers") or ""
    headers = {
        **rewriting.build_isolation_headers(passage.ancestors),
        **rewriting.build_preflight_headers(asked),
    }
    answer.write_head(204, headers)
    answer.close()


def clear_headers(request: Any) -> None:
    """Remove the headers that the service adds to its own responses."""
    # Do not add a media type that the target did not give.
    request.defaultContentType = None
    for name in list(request.responseHeaders.getAllRawHeaders()):
        request.responseHeaders.removeHeader(name[0])


def get_request_body(call: OperationCall) -> BrowserBody | None:
    """Return the body of the request, or C{None} if it has none."""
    length = call.get_header("content-length")
    if length is not None and length.isdecimal():
        return BrowserBody(call.incoming, int(length)) if int(length) else None
    chunked = call.get_header("transfer-encoding") is not None
    return BrowserBody(call.incoming, None) if chunked else None


def get_rewritable_type(response: Any) -> str | None:
    """Return the media type of a response that must be rewritten; C{None} for other responses.

    Only complete responses without an encoding are rewritten.
    """
    found = (response.headers.getRawHeaders(b"content-type") or [b""])[-1]
    kind = found.partition(b";")[0].strip().lower().decode("ascii", "replace")
    coded = response.headers.getRawHeaders(b"content-encoding")
    return kind if kind in REWRITTEN and not coded and response.code != 206 else None


def rewrite_chunk(kind: str, piece: bytes, passage: RelayContext, *, top: bool) -> bytes:
    """Rewrite the addresses in one chunk of a relayed body, so that they lead through the relay.

    @param kind: media type, one of L{REWRITTEN}.
    @param passage: the relayed request, with the prefix and the cookies of its page.
    @param top: true if the chunk begins a page; the relay's own script is then inserted.
    """
    found = rewriting.rewrite_content(kind, piece, passage.target.origin, passage.prefix)
    if not top:
        return found
    readable = passage.jar.list_script_cookies(passage.path)
    return page_script.insert_script(
        found, passage.prefix, passage.target.origin, passage.destination, readable
    )
