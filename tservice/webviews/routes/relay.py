"""One request of a web tab, passed to its target and back (protocol-webtabs)."""

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
from tservice.http.envelope import bare
from tservice.http.operations import Call
from tservice.http.transfer.outgoing import Outgoing
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
"""What a status may be that ends an exchange; browsers take three digits for one."""
BODILESS = (204, 304)
PLAIN = (None, "document", "iframe", "frame", "script", "style", "worker")
"""What may have to be rewritten is asked for without compression."""


@frozen(kw_only=True)
class Passage:
    """Where one request goes.

    @ivar resource: path and query for the target.
    @ivar prefix: of the capability, in the service's paths.
    @ivar ancestors: who may hold the answer in a frame.
    @ivar wanted: what the browser asks it for (C{Sec-Fetch-Dest}).
    @ivar jar: cookies that the target has set.
    @ivar pin: how far in the target's name may lead.
    @ivar owner: the account whose tab it is.
    @ivar apart: it came to the listener of web tabs, where nobody signs in.
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
        """Without the query."""
        return self.resource.partition(b"?")[0].decode("ascii", "replace")

    @property
    def url(self) -> str:
        """What the target is asked for."""
        return f"{self.target.origin}{self.resource.decode('ascii', 'replace')}"


@frozen(kw_only=True)
class Relay:
    """Passes requests.

    @ivar cookies: names of the service's own.
    @ivar jars: the targets' cookies.
    @ivar relayed: what is under way.
    @ivar pins: how far in their names may lead.
    """

    upstream: Upstream
    guard: Guard
    cookies: frozenset[str]
    jars: Jars
    relayed: Relayed
    pins: Pins = field(factory=Pins)

    async def pass_on(self, call: Call, passage: Passage) -> None:
        """Ask the target, and answer with what it says, as it comes.

        @raise Refusal: bare 502 where it says nothing of use.
        """
        method = call.request.method.decode("ascii")
        if passage.apart and method == "OPTIONS" and call.header("access-control-request-method"):
            permit(call, passage)
            return
        if method in REFUSED:
            raise bare(400, "Bad Request: not with this method")
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
        """Refuse a request that may change something, of an account that may only read.

        @raise Refusal: bare 403.
        """
        if not self.guard.allows(method, passage.owner):
            raise bare(403, "Forbidden: your account may only read in web tabs (GET and HEAD)")

    async def _ask(self, connection: Any, call: Call, passage: Passage) -> Any:
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
            raise bare(502, "Bad Gateway: the target's answer makes no sense") from None
        finally:
            if body is not None:
                body.answered = True

    async def _answer(self, call: Call, passage: Passage, response: Any) -> None:
        if response.code not in FINAL:
            raise bare(502, "Bad Gateway: the target's answer makes no sense")
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
        answer = Outgoing(request)
        try:
            await self._body(answer, body, response, passage, fence)
        finally:
            answer.close()

    async def _body(
        self,
        answer: Outgoing,
        body: Download,
        response: Any,
        passage: Passage,
        fence: dict[str, str],
    ) -> None:
        if answer.head_only or response.code in BODILESS:
            answer.begin(response.code, fence)
            return
        kind, told = rewritable(response), response.length
        unknown = told == UNKNOWN_LENGTH or kind is not None
        answer.begin(response.code, fence if unknown else {**fence, "Content-Length": str(told)})
        response.deliverBody(body)
        if kind is None:
            while data := await body.read():
                await answer.write(data)
        else:
            await self._rewrite(kind, answer, body, passage)
        if body.broken:
            # A clean end would tell the browser that it has all of it.
            answer.cut()

    async def _rewrite(self, kind: str, answer: Outgoing, body: Download, passage: Passage) -> None:
        """Piece by piece, with everybody else's turns between them."""
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
            raise bare(502, f"Bad Gateway: a redirect {refused}") from None


def pairs(headers: Headers) -> Pairs:
    """Headers one by one."""
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.getAllRawHeaders()
        for value in values
    ]


def permit(call: Call, passage: Passage) -> None:
    """Let a page send what it asks to: to its own target alone, whatever that says of others."""
    bare_headers(call.request)
    answer = Outgoing(call.request)
    asked = call.header("access-control-request-headers") or ""
    headers = {**rewriting.fence(passage.ancestors), **rewriting.permitted(asked)}
    answer.begin(204, headers)
    answer.close()


def bare_headers(request: Any) -> None:
    """Take back what every answer of the service's own says."""
    # A type that the target did not give is not made up.
    request.defaultContentType = None
    for name in list(request.responseHeaders.getAllRawHeaders()):
        request.responseHeaders.removeHeader(name[0])


def body_of(call: Call) -> Upload | None:
    """The body that came along; C{None} without one."""
    length = call.header("content-length")
    if length is not None and length.isdecimal():
        return Upload(call.incoming, int(length)) if int(length) else None
    chunked = call.header("transfer-encoding") is not None
    return Upload(call.incoming, None) if chunked else None


def rewritable(response: Any) -> str | None:
    """The type of what is to be rewritten, if it is all there and readable as it is."""
    found = (response.headers.getRawHeaders(b"content-type") or [b""])[-1]
    kind = found.partition(b";")[0].strip().lower().decode("ascii", "replace")
    coded = response.headers.getRawHeaders(b"content-encoding")
    return kind if kind in REWRITTEN and not coded and response.code != 206 else None


def rewritten(kind: str, piece: bytes, passage: Passage, *, top: bool) -> bytes:
    """@param top: it begins a page, whose scripts are given something before."""
    found = rewriting.text(kind, piece, passage.target.origin, passage.prefix)
    if not top:
        return found
    readable = passage.jar.readable(passage.path)
    return inside.given(found, passage.prefix, passage.target.origin, passage.wanted, readable)
