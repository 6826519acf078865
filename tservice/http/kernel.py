"""Processing of every request: gate, route, validation, handler, envelope."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from http.client import responses
from itertools import count
from typing import Any

from attrs import evolve
from twisted.internet.defer import CancelledError
from twisted.logger import Logger
from twisted.web.resource import IResource
from twisted.web.server import NOT_DONE_YET
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from zope.interface import Interface, implementer

from tservice.core.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.disk_errors import DiskFull, find_disk_problem
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.core.tasks import spawn_logged
from tservice.http import envelope, pagekey, paths
from tservice.http.body import LONG_TEXT, read_in_turns, read_nothing, read_query, too_large
from tservice.http.envelope import NO_PAGE, Refusal, Response, bare
from tservice.http.operations import JSON_BODY_LIMIT, Call, Operation, Style
from tservice.http.parked import ParkedCalls
from tservice.http.request import Request
from tservice.http.routing import RouteTable, arguments
from tservice.http.transfer.incoming import Incoming
from tservice.http.transfer.large import LargeAnswers, waits, write_as_taken

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}")

Path = Mapping[str, str]
"""Parameters of a path."""

Heard = Callable[[Call, object], None]
"""Callback for a call and its outcome: the handler's result, or the exception that it raised."""

Strays = Callable[[Request], Response | None]
"""Fallback that answers a request which is neither in the table nor a page; C{None}: the request is
not its own.
"""


class IGate(Interface):
    """Authenticates and authorizes requests (protocol-gate)."""

    def screen(request: Request, method: str, path: str | None) -> AuthenticationRequest:
        """Check Host and Origin.

        @raise Refusal: the request ends here.
        """

    async def identify(
        visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        """Authenticate the caller.

        @param operation: C{None} for requests outside the table: pages and unknown paths.
        @raise Refusal: the caller is not known, or locked out.
        """

    def authorize(
        visit: AuthenticationRequest, who: Identity, operation: Operation | None, path: Path
    ) -> None:
        """Check that C{who} may call C{operation}.

        @param operation: as for L{identify}.
        @raise ServiceError: C{who} may not call it.
        """

    def judge_again(
        visit: AuthenticationRequest, who: Identity, operation: Operation, path: Path
    ) -> None:
        """Check that C{who}, who was admitted to C{operation}, still has all its rights.

        @raise Refusal: the caller is no longer known.
        @raise ServiceError: a right that it had is lost.
        """

    def headers(visit: AuthenticationRequest | None) -> Mapping[str, str]:
        """Return the headers of every response; C{None} for a request that did not pass
        L{screen}.
        """


class IPages(Interface):
    """Files of the browser UI."""

    def find(path: str, visit: AuthenticationRequest) -> Response | None:
        """Return the file at C{path}, C{None} when there is none."""


class IUpgrades(Interface):
    """Handles WebSocket upgrades."""

    async def serve(call: Call) -> None:
        """Upgrade, pass the socket to the operation, and return when it is closed."""

    async def refuse(request: Request, error: ServiceError) -> None:
        """Upgrade, then close with the code that belongs to C{error} (protocol-websocket)."""


@implementer(IResource)
class Kernel:
    """Root resource, which handles every request to this service.

    @ivar table: the mounted operations.
    """

    isLeaf = True
    _log = Logger()

    def __init__(
        self,
        operations: Iterable[Operation],
        gate: IGate,
        pages: IPages,
        sockets: IUpgrades,
        base_path: str = "",
        heard: Heard = lambda call, outcome: None,
        parked: ParkedCalls | None = None,
        strays: Strays = lambda request: None,
        large: LargeAnswers | None = None,
    ) -> None:
        """@param base_path: the path under which a reverse proxy serves the service, for example
            C{/terminals}.
        @param heard: called with each call that reached its handler, and its outcome.
        @param parked: holds the long polls.
        @param strays: answers requests that are neither in the table nor for a page; returns
            C{None} for a request that it does not serve.
        @param large: counts response bytes that wait to be read.
        """
        self._strays = strays
        self._heard = heard
        self._parked = parked or ParkedCalls()
        self._large = large or LargeAnswers()
        self._gate, self._pages, self._sockets = gate, pages, sockets
        self._base = base_path
        self._faults = count(1)
        self._warned: set[str] = set()
        self.table = RouteTable(operations, self._serve, self._miss)
        self._any_bodies = tuple(
            one.path.partition("{")[0].encode() for one in self.table.operations if one.any_body
        )
        self._routed = self.table.app.resource()

    def getChildWithDefault(self, name: bytes, request: Request) -> Kernel:
        """Return the kernel itself, which is a leaf."""
        return self

    def putChild(self, path: bytes, child: object) -> None:
        """Refuse children.

        @raise TypeError: always.
        """
        raise TypeError("the kernel has no child resources: use the operations table")

    def render(self, request: Request) -> int:
        """Answer C{request}, now or later."""
        if not _TOKEN.fullmatch(request.method):
            # HTTP/2 does not check the method.
            self._end(request, bare(400, "Bad Request").response)
            return NOT_DONE_YET
        path = paths.canonical(request.path, self._base)
        try:
            visit = self._gate.screen(request, _text(request.method), path)
        except Refusal as refusal:
            self._put_headers(request, self._gate.headers(None))
            if self._closes_foreign(request):
                self._start(request, self._guard(request, self._close(request, refusal)))
            else:
                self._end(request, refusal.response)
            return NOT_DONE_YET
        request.visit = visit
        self._put_headers(request, self._gate.headers(visit))
        if request.refusal is not None:
            self._end(request, _refused(request.refusal))
        elif self._base and request.path == self._base.encode():
            # Relative URLs in the page need the slash.
            self._end(request, Response(status=308, headers={"Location": f"{self._base}/"}))
        elif path is None:
            self._start(request, self._miss(request, HTTPException()))
        elif visit.preflight:
            self._end(request, Response(status=204, content_type=""))
        else:
            # Klein joins these again; the empty first one gives exactly this path.
            request.postpath = path.encode().split(b"/")
            self._routed.render(request)
        return NOT_DONE_YET

    def _closes_foreign(self, request: Request) -> bool:
        operation = self._find(request.method, request.path)
        upgrade = request.getHeader("upgrade") or ""
        return operation is not None and operation.closes_foreign and "websocket" in upgrade.lower()

    async def _close(self, request: Request, refusal: Refusal) -> None:
        text = refusal.response.content.decode()
        await self._sockets.refuse(request, ServiceError(ErrorCode.FORBIDDEN, text))

    def body_bound(self, method: bytes, path: bytes) -> int:
        """Return the limit in bytes on a body for this route."""
        operation = self._find(method, path)
        return JSON_BODY_LIMIT if operation is None else operation.bounds.size

    def is_streamed(self, method: bytes, path: bytes, form: bool) -> bool:
        """Return whether this route's handler reads the body while it arrives.

        @param form: the body is a form with files.
        """
        if not form and not path.removeprefix(self._base.encode()).startswith(self._any_bodies):
            return False
        operation = self._find(method, path)
        return operation is not None and operation.streams and (form or operation.any_body)

    def _find(self, method: bytes, path: bytes) -> Operation | None:
        known = paths.canonical(path, self._base)
        return None if known is None else self.table.find(_text(method), known)

    def vouch(self, request: Request, method: bytes, target: bytes) -> None:
        """Refuse a large body while it arrives, unless its sender may send it."""
        path = target.partition(b"?")[0]

        async def judge() -> None:
            try:
                known = paths.canonical(path, self._base)
                visit = self._gate.screen(request, _text(method), known)
                await self._gate.identify(visit, self._find(method, path))
            except Refusal as refusal:
                request.refuse(refusal)

        spawn_logged(judge(), self._log, "authorizing an upload")

    def _start(self, request: Request, work: Coroutine[Any, Any, bytes | None]) -> None:
        async def answer() -> None:
            content = await work
            if request.gone:
                return
            if content is not None:
                request.write(content)
            request.finish()

        spawn_logged(answer(), self._log, "an answer")

    def _end(self, request: Request, response: Response) -> None:
        request.write(self._prepare(request, response))
        request.finish()

    def _prepare(self, request: Request, response: Response) -> bytes:
        request.setResponseCode(response.status, responses.get(response.status, "").encode())
        headers = request.responseHeaders
        if response.content_type:
            headers.setRawHeaders("Content-Type", [response.content_type])
        if response.status not in (204, 304):
            headers.setRawHeaders("Content-Length", [str(len(response.content))])
        self._put_headers(request, response.headers)
        return response.content

    def _put_headers(self, request: Request, headers: Mapping[str, str]) -> None:
        for name, value in headers.items():
            request.responseHeaders.setRawHeaders(name, [value])

    async def _serve(
        self, request: Request, operation: Operation, path: Mapping[str, str]
    ) -> bytes | None:
        request.route = operation.path
        if operation.deprecated is not None:
            self._warn(request, operation.deprecated)
        values = arguments(operation, path)
        if values is None:
            return await self._miss(request, HTTPException())
        return await self._written(request, self._answer(request, operation, values))

    def _warn(self, request: Request, family: str) -> None:
        """Warn the caller, and once the operator, about a deprecated operation
        (protocol-versioning).
        """
        request.responseHeaders.setRawHeaders("Deprecation", ["true"])
        if family not in self._warned:
            self._warned.add(family)
            self._log.warn("{family} are deprecated but still in use", family=family)

    async def _miss(self, request: Request, error: HTTPException) -> bytes | None:
        return await self._written(request, self._without_operation(request, error))

    async def _written(
        self, request: Request, work: Coroutine[Any, Any, Response | None]
    ) -> bytes | None:
        """Return the content that is still to be written; a large response is written here, at the
        client's pace.
        """
        content = await self._guard(request, work)
        if content is None or not waits(request, len(content)):
            return content
        await write_as_taken(request, content)
        return None

    async def _guard(
        self, request: Request, work: Coroutine[Any, Any, Response | None]
    ) -> bytes | None:
        """Turn any outcome of C{work} into one response, without details of a fault."""
        try:
            response = await work
        except Refusal as refusal:
            response = refusal.response
        except ServiceError as error:
            response = envelope.failure(error)
        except CancelledError:
            if request.gone:
                raise
            response = self._fault(request) if not request.startedWriting else NO_PAGE
        except Exception as error:
            reason = find_disk_problem(error)
            refused = None if reason is None else envelope.failure(DiskFull(reason))
            response = refused or self._fault(request)
        if response is None or request.gone:
            return None
        if not request.startedWriting:
            await request.settle()
        if request.startedWriting:
            # A stream broke off: abort the connection so that the client notices.
            request.abort()
            return None
        return self._prepare(request, response)

    def _fault(self, request: Request) -> Response:
        number = next(self._faults)
        self._log.failure(
            "fault {number} in {method} {route}",
            number=number,
            method=_text(request.method),
            route=request.route,
        )
        return envelope.failure(
            ServiceError(ErrorCode.INTERNAL_ERROR, f"Internal error (number {number} in the log)")
        )

    async def _answer(self, request: Request, operation: Operation, path: Path) -> Response | None:
        identity = await self._identify(request, operation)
        request.site.share(request, identity.username, admin=identity.admin)
        try:
            self._gate.authorize(request.visit, identity, operation, path)
            if operation.allowed is not None:
                operation.allowed()
            again = partial(self._gate.judge_again, request.visit, identity, operation, path)
            call = await _call(request, operation, identity, path, again)
            if request.received > LONG_TEXT:
                _judge(request, again)  # rights may have changed in between
        except ServiceError as error:
            if operation.style is not Style.WEBSOCKET or not request.visit.upgrade:
                raise
            await self._sockets.refuse(request, error)
            return None
        if operation.style is Style.WEBSOCKET:
            await self._sockets.serve(call)
            return None
        try:
            result = await self._handled(call)
        except BaseException as error:
            # Also after a cancellation: the client left, but the operation may have had an effect.
            self._tell(call, error)
            if isinstance(error, (Refusal, ServiceError, CancelledError)):
                # The response holds no details of other failures; the log has them.
                self._judge_late(request, call)
            raise
        self._tell(call, result)
        if operation.style is Style.STREAM:
            return None
        self._judge_late(request, call)
        response = envelope.success(result, operation.style)
        self._large.count(request, identity.username, len(response.content))
        return response

    async def _handled(self, call: Call) -> object:
        lasts = call.operation.style in (Style.LONG_POLL, Style.STREAM)
        if lasts or call.operation.streams:
            return await self._parked.hold(call)
        if call.operation.large(call.query):
            return await self._large.make(call)
        return await call.operation.handler(call)

    def _judge_late(self, request: Request, call: Call) -> None:
        """Check the caller's rights again, since the handler may have taken minutes.

        @raise Refusal: the caller is no longer known.
        @raise ServiceError: a right is lost.
        """
        if call.operation.ends_access or request.gone or request.startedWriting:
            return
        _judge(request, call.again)

    def _tell(self, call: Call, outcome: object) -> None:
        try:
            self._heard(call, outcome)
        except Exception:
            self._log.failure("recording a call of {route} failed", route=call.operation.path)

    async def _identify(self, request: Request, operation: Operation | None) -> Identity:
        passed = await self._gate.identify(request.visit, operation)
        if passed.set_cookie is not None:
            request.responseHeaders.addRawHeader("Set-Cookie", passed.set_cookie)
        if passed.key_wanted:
            request.responseHeaders.setRawHeaders(pagekey.HEADER, [pagekey.WANTED])
        return passed.identity

    async def _without_operation(self, request: Request, error: HTTPException) -> Response:
        """Answer a request outside the table: a page, a wrong method, an unknown path."""
        visit = request.visit
        page = None
        if visit.path is not None and visit.method in ("GET", "HEAD"):
            page = self._pages.find(visit.path, visit)
        if page is not None:
            request.visit = visit = evolve(visit, page=True)
        elif (answer := self._strays(request)) is not None:
            return answer
        if page is None or not page.public:
            identity = await self._identify(request, None)
            self._gate.authorize(visit, identity, None, {})
        if page is not None:
            return page
        shown = paths.shown(request.path)
        if isinstance(error, MethodNotAllowed):
            return _other_method(visit.method, shown, error)
        return envelope.no_route(visit.method, shown) if paths.is_api(visit.path) else NO_PAGE


async def _call(
    request: Request,
    operation: Operation,
    identity: Identity,
    path: Path,
    again: Callable[[], None],
) -> Call:
    """Validate C{request} and return its call.

    @param again: see L{Call.again}.
    @raise ServiceError: the operation does not accept the query or the body.
    """
    bounds = operation.bounds
    if request.received > bounds.size and request.incoming is None:
        raise too_large(bounds.size)
    query = body = None
    if operation.query is not None:
        query = read_query(request.args, operation.query)
    if operation.body is not None:
        raw, kind = request.content.read(), request.getHeader("content-type") or ""
        optional, clock = operation.optional_body, request.site.reactor
        body = await read_in_turns(raw, kind, operation.body, optional, bounds.values, clock)
    elif operation.bodiless:
        read_nothing(request.content.read(), request.getHeader("content-type") or "")
    return Call(
        operation=operation,
        identity=identity,
        path=path,
        query=query,
        body=body,
        address=request.visit.address,
        request=request,
        again=again,
        incoming=request.incoming or Incoming(),
    )


def _judge(request: Request, again: Callable[[], None]) -> None:
    try:
        again()
    except (Refusal, ServiceError):
        request.responseHeaders.removeHeader("Set-Cookie")
        raise


def _other_method(method: str, shown: str, error: MethodNotAllowed) -> Response:
    allowed = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
    if method == "OPTIONS":
        return Response(status=204, content_type="", headers={"Allow": allowed})
    return envelope.wrong_method(method, shown, allowed)


def _refused(why: Refusal | ServiceError) -> Response:
    return why.response if isinstance(why, Refusal) else envelope.failure(why)


def _text(word: bytes) -> str:
    return word.decode("ascii", "backslashreplace")
