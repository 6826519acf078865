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

from tservice.core.clock import sleep
from tservice.core.net.egress import EgressRefused, EgressTarget
from tservice.http.envelope import bare_refusal
from tservice.http.operations import OperationCall
from tservice.http.transfer.streamed_response import StreamedResponse
from tservice.webviews import inside, rewriting
from tservice.webviews.jar import Jar, Jars
from tservice.webviews.pinning import Pin, Pins
from tservice.webviews.rewriting import PIECE, REWRITTEN, Pairs
from tservice.webviews.routes.bodies import Download, Upload
from tservice.webviews.routes.pacing import Paced
from tservice.webviews.routes.relayed import Relayed
from tservice.webviews.routes.upstream import Upstream, host_of
from tservice.webviews.service import Guard

REFUSED = frozenset({"CONNECT", "TRACE"})
FINAL = range(200, 1000)
"""Valid statuses of a final response; browsers accept any three digits."""
BODILESS = (204, 304)
PLAIN = (None, "document", "iframe", "frame", "script", "style", "worker")
"""Destinations whose content may be rewritten, so that no compression is requested."""


@frozen(kw_only=True)
class Passage:
    """Context of one relayed request.

    @ivar resource: path and query for the target.
    @ivar prefix: path prefix of the token in the service.
    @ivar ancestors: origins that may frame the answer.
    @ivar wanted: destination of the request (C{Sec-Fetch-Dest}).
    @ivar jar: cookies set by the target.
    @ivar pin: restriction of the target's addresses.
    @ivar owner: account that owns the tab.
    @ivar apart: the request came to the web tab listener, where there is no sign-in.
    """

    target: EgressTarget
    resource: bytes
    prefix: str
    ancestors: Sequence[str]
    wanted: str | None
    jar: Jar
    pin: Pin
    owner: str
    apart: bool

    @property
    def path(self) -> str:
        """Path without the query."""
        return self.resource.partition(b"?")[0].decode("ascii", "replace")

    @property
    def url(self) -> str:
        """URL that is requested from the target."""
        return f"{self.target.origin}{self.resource.decode('ascii', 'replace')}"


@frozen(kw_only=True)
class Relay:
    """Relay of requests.

    @ivar cookies: names of the service's own cookies.
    @ivar jars: cookies of the targets.
    @ivar relayed: limit of requests under way.
    @ivar pins: restrictions of the targets' addresses.
    """

    upstream: Upstream
    guard: Guard
    cookies: frozenset[str]
    jars: Jars
    relayed: Relayed
    pins: Pins = field(factory=Pins)

    async def pass_on(self, call: OperationCall, passage: Passage) -> None:
        """Forward the request to the target, and stream its answer.

        @raise Refusal: plain 502 if the target gives no valid answer.
        """
        method = call.request.method.decode("ascii")
        if (
            passage.apart
            and method == "OPTIONS"
            and call.get_header("access-control-request-method")
        ):
            permit(call, passage)
            return
        if method in REFUSED:
            raise bare_refusal(400, "Bad Request: method not supported")
        self.refuse_writing(method, passage)
        request: Any = call.request
        paced = partial(Paced, request.site.turns)
        connection = await self.upstream.connect(passage.target, paced, passage.owner, passage.pin)
        try:
            response = await self._ask(connection, call, passage)
            await self._answer(call, passage, response)
        finally:
            connection.transport.abortConnection()

    def refuse_writing(self, method: str, passage: Passage) -> None:
        """Refuse a request that may change something, if the account may only read.

        @raise Refusal: plain 403.
        """
        if not self.guard.allows(method, passage.owner):
            raise bare_refusal(
                403, "Forbidden: your account may only read in web tabs (GET and HEAD)"
            )

    async def _ask(self, connection: Any, call: OperationCall, passage: Passage) -> Any:
        given = pairs(call.request.requestHeaders)
        passed = rewriting.upward(
            given,
            origin=passage.target.origin,
            prefix=passage.prefix,
            cookies=self.cookies,
            plain=passage.wanted in PLAIN,
            kept=passage.jar.sent(passage.path),
            apart=passage.apart,
        )
        headers = Headers()
        headers.addRawHeader(b"Host", host_of(passage.target))
        for name, value in passed:
            headers.addRawHeader(name.encode("latin-1"), value.encode("latin-1", "replace"))
        body, method = body_of(call), call.request.method
        asked = UpstreamRequest(method, passage.resource, headers, body, persistent=False)
        try:
            return await connection.request(asked)
        except CancelledError:
            raise
        except Exception:
            if body is not None and body.fault is not None:
                raise body.fault from None
            raise bare_refusal(502, "Bad Gateway: the target's answer is invalid") from None
        finally:
            if body is not None:
                body.answered = True

    async def _answer(self, call: OperationCall, passage: Passage, response: Any) -> None:
        if response.code not in FINAL:
            raise bare_refusal(502, "Bad Gateway: the target's answer is invalid")
        given = pairs(response.headers)
        self._judge_redirect(response.code, given, passage)
        for name, value in given:
            if name.lower() == "set-cookie":
                passage.jar.take(value, self.cookies)
        passed = rewriting.downward(
            [
                pair
                for pair in given
                if pair[0].lower() != "set-cookie" or passage.jar.tells(pair[1])
            ],
            origin=passage.target.origin,
            asked=passage.url,
            prefix=passage.prefix,
            cookies=self.cookies,
        )
        request: Any = call.request
        bare_headers(request)
        for name, value in passed:
            encoded = value.encode("latin-1", "replace")
            request.responseHeaders.addRawHeader(name.encode("latin-1"), encoded)
        fence = rewriting.fence(passage.ancestors)
        body = Download()
        answer = StreamedResponse(request)
        try:
            await self._body(answer, body, response, passage, fence)
        finally:
            answer.close()

    async def _body(
        self,
        answer: StreamedResponse,
        body: Download,
        response: Any,
        passage: Passage,
        fence: dict[str, str],
    ) -> None:
        if answer.head_only or response.code in BODILESS:
            answer.write_head(response.code, fence)
            return
        kind, told = rewritable(response), response.length
        unknown = told == UNKNOWN_LENGTH or kind is not None
        answer.write_head(
            response.code, fence if unknown else {**fence, "Content-Length": str(told)}
        )
        response.deliverBody(body)
        if kind is None:
            while data := await body.read():
                await answer.write(data)
        else:
            await self._rewrite(kind, answer, body, passage)
        if body.broken:
            # A clean end would mean that the body is complete.
            answer.abort_response()

    async def _rewrite(
        self, kind: str, answer: StreamedResponse, body: Download, passage: Passage
    ) -> None:
        """Rewrite the body chunk by chunk, and yield to the reactor in between."""
        waiting, top = bytearray(), kind == "text/html"
        while data := await body.read():
            waiting += data
            while len(waiting) > PIECE:
                end = rewriting.piece(kind, waiting)
                await answer.write(rewritten(kind, bytes(waiting[:end]), passage, top=top))
                top = False
                del waiting[:end]
                await sleep(self.upstream.reactor, 0)
        if waiting:
            await answer.write(rewritten(kind, bytes(waiting), passage, top=top))

    def _judge_redirect(self, status: int, given: Pairs, passage: Passage) -> None:
        if not 300 <= status < 400:
            return
        for name, value in given:
            if name.lower() == "location":
                self._judge_place(value, passage)

    def _judge_place(self, location: str, passage: Passage) -> None:
        to = rewriting.moved(location, passage.target.origin, passage.url, passage.prefix)
        if to.startswith(passage.prefix + "/"):
            return
        try:
            self.guard.target(to.partition("#")[0], passage.owner)
        except EgressRefused as refused:
            raise bare_refusal(502, f"Bad Gateway: a redirect {refused}") from None


def pairs(headers: Headers) -> Pairs:
    """Return the headers as pairs."""
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.getAllRawHeaders()
        for value in values
    ]


def permit(call: OperationCall, passage: Passage) -> None:
    """Answer a CORS preflight of a page for its own target, whatever the target permits."""
    bare_headers(call.request)
    answer = StreamedResponse(call.request)
    asked = call.get_header("access-control-request-headers") or ""
    headers = {**rewriting.fence(passage.ancestors), **rewriting.permitted(asked)}
    answer.write_head(204, headers)
    answer.close()


def bare_headers(request: Any) -> None:
    """Remove the default headers of the service's own answers."""
    # Do not add a media type that the target did not give.
    request.defaultContentType = None
    for name in list(request.responseHeaders.getAllRawHeaders()):
        request.responseHeaders.removeHeader(name[0])


def body_of(call: OperationCall) -> Upload | None:
    """Return the body of the request; C{None} without one."""
    length = call.get_header("content-length")
    if length is not None and length.isdecimal():
        return Upload(call.incoming, int(length)) if int(length) else None
    chunked = call.get_header("transfer-encoding") is not None
    return Upload(call.incoming, None) if chunked else None


def rewritable(response: Any) -> str | None:
    """Return the media type if the content is to be rewritten, complete and not encoded."""
    found = (response.headers.getRawHeaders(b"content-type") or [b""])[-1]
    kind = found.partition(b";")[0].strip().lower().decode("ascii", "replace")
    coded = response.headers.getRawHeaders(b"content-encoding")
    return kind if kind in REWRITTEN and not coded and response.code != 206 else None


def rewritten(kind: str, piece: bytes, passage: Passage, *, top: bool) -> bytes:
    """Return a rewritten chunk.

    @param top: the chunk begins a page, into which the script is inserted.
    """
    found = rewriting.text(kind, piece, passage.target.origin, passage.prefix)
    if not top:
        return found
    readable = passage.jar.readable(passage.path)
    return inside.given(found, passage.prefix, passage.target.origin, passage.wanted, readable)
