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

from tservice.core.callers.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import DiskFull, find_disk_problem
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.http import envelope
from tservice.http.envelope import NO_PAGE, HttpRefusal, HttpResponse, make_bare_refusal
from tservice.http.operations import JSON_BODY_LIMIT, Operation, OperationCall, ResponseStyle
from tservice.http.parked_calls import ParkedCalls
from tservice.http.request import ServiceRequest
from tservice.http.routing import RouteTable, decode_path_arguments
from tservice.http.security import page_key, paths
from tservice.http.transfer.large_responses import (
    LargeResponses,
    is_written_in_pieces,
    write_in_pieces,
)
from tservice.http.transfer.request_body import IncomingBody
from tservice.http.validation.body import (
    LONG_TEXT,
    check_empty_body,
    make_size_error,
    read_body_yielding,
    read_query,
)

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}")

Path = Mapping[str, str]
"""Values of a path's parameters by name."""

CallListener = Callable[[OperationCall, object], None]
"""Callback for a call and its outcome: the handler's result, or the exception that it raised."""

FallbackRoute = Callable[[ServiceRequest], HttpResponse | None]
"""Handler for a request that is neither in the table nor a page; returns C{None} to decline it."""


class IGate(Interface):
    """Authenticates and authorizes requests (protocol-gate)."""

    def check_host_and_origin(
        request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        """Check the Host and Origin headers, and return the request's data for authentication.

        @raise HttpRefusal: the request is refused.
        """

    async def identify_caller(
        visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        """Authenticate the caller.

        @param operation: C{None} for requests outside the table: pages and unknown paths.
        @raise HttpRefusal: the caller is unknown, or locked out.
        """

    def authorize_call(
        visit: AuthenticationRequest, who: Identity, operation: Operation | None, path: Path
    ) -> None:
        """Check that C{who} may call C{operation}.

        @param operation: as for L{identify_caller}.
        @raise ServiceError: C{who} may not call the operation.
        """

    def reauthorize_call(
        visit: AuthenticationRequest, who: Identity, operation: Operation, path: Path
    ) -> None:
        """Check that C{who}, who was admitted to C{operation}, still has all its rights.

        @raise HttpRefusal: the caller is no longer signed in.
        @raise ServiceError: the caller has lost a right.
        """

    def get_headers(visit: AuthenticationRequest | None) -> Mapping[str, str]:
        """Return a response's headers; C{visit} is C{None} if L{check_host_and_origin} refused."""


class IPages(Interface):
    """Files of the browser UI."""

    def find_page(path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        """Return the file at C{path}; C{None} if there is none."""


class IUpgrades(Interface):
    """Handles WebSocket upgrades."""

    async def serve_socket(call: OperationCall) -> None:
        """Upgrade the connection, run the operation's handler, and return when the socket is
        closed.
        """

    async def refuse_socket(request: ServiceRequest, error: ServiceError) -> None:
        """Upgrade the connection, then close it with the code for C{error} (protocol-websocket)."""


@implementer(IResource)
class HttpKernel:
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
        on_call: CallListener = lambda call, outcome: None,
        parked: ParkedCalls | None = None,
        fallback_route: FallbackRoute = lambda request: None,
        large: LargeResponses | None = None,
    ) -> None:
        """@param base_path: the path under which a reverse proxy serves the service, for example
            C{/terminals}.
        @param on_call: called with each call that reached its handler, and its outcome.
        @param parked: runs the long polls.
        @param fallback_route: answers requests that are neither in the table nor for a page;
            returns C{None} for a request that it does not serve.
        @param large: counts response bytes that the clients have not read yet.
        """
        self._strays = fallback_route
        self._heard = on_call
        self._parked = parked or ParkedCalls()
        self._large = large or LargeResponses()
        self._gate, self._pages, self._sockets = gate, pages, sockets
        self._base, self._faults = base_path, count(1)
        self._warned: set[str] = set()
        self.table = RouteTable(operations, self._serve_operation, self._serve_unmatched)
        self._any_bodies = tuple(
            one.path.partition("{")[0].encode() for one in self.table.operations if one.any_body
        )
        self._routed = self.table.app.resource()

    def getChildWithDefault(self, name: bytes, request: ServiceRequest) -> HttpKernel:
        """Return this resource, which serves all paths."""
        return self

    def putChild(self, path: bytes, child: object) -> None:
        """Refuse child resources.

        @raise TypeError: always.
        """
        raise TypeError("the kernel has no child resources: use the operations table")

    def render(self, request: ServiceRequest) -> int:
        """Answer C{request}, immediately or later."""
        if not _TOKEN.fullmatch(request.method):
            # twisted.web does not limit the length of a method.
            self._end_response(request, make_bare_refusal(400, "Bad Request").response)
            return NOT_DONE_YET
        path = paths.canonical_path(request.path, self._base)
        try:
            visit = self._gate.check_host_and_origin(request, _decode_text(request.method), path)
        except HttpRefusal as refusal:
            self._put_headers(request, self._gate.get_headers(None))
            if self._refuses_by_closing_socket(request):
                work = self._close_refused(request, refusal)
                self._spawn_writer(request, self._run_converting_errors(request, work))
            else:
                self._end_response(request, refusal.response)
            return NOT_DONE_YET
        request.visit = visit
        self._put_headers(request, self._gate.get_headers(visit))
        if request.refusal is not None:
            self._end_response(request, _refusal_response(request.refusal))
        elif self._base and request.path == self._base.encode():
            # Relative URLs in the page need the slash.
            with_slash = HttpResponse(status=308, headers={"Location": f"{self._base}/"})
            self._end_response(request, with_slash)
        elif path is None:
            self._spawn_writer(request, self._serve_unmatched(request, HTTPException()))
        elif visit.preflight:
            self._end_response(request, HttpResponse(status=204, content_type=""))
        else:
            # Klein joins these again; the empty first one gives exactly this path.
            request.postpath = path.encode().split(b"/")
            self._routed.render(request)
        return NOT_DONE_YET

    def _refuses_by_closing_socket(self, request: ServiceRequest) -> bool:
        operation = self._find_operation(request.method, request.path)
        upgrade = request.getHeader("upgrade") or ""
        return operation is not None and operation.closes_foreign and "websocket" in upgrade.lower()

    async def _close_refused(self, request: ServiceRequest, refusal: HttpRefusal) -> None:
        text = refusal.response.content.decode()
        await self._sockets.refuse_socket(request, ServiceError(ErrorCode.FORBIDDEN, text))

    def get_body_limit(self, method: bytes, path: bytes) -> int:
        """Return the limit in bytes on a body for this method and path."""
        operation = self._find_operation(method, path)
        return JSON_BODY_LIMIT if operation is None else operation.body_limits.size

    def is_streamed(self, method: bytes, path: bytes, form: bool) -> bool:
        """Return whether this route's handler reads the body while it arrives.

        @param form: true if the body is a form with files.
        """
        if not form and not path.removeprefix(self._base.encode()).startswith(self._any_bodies):
            return False
        operation = self._find_operation(method, path)
        return operation is not None and operation.streams and (form or operation.any_body)

    def _find_operation(self, method: bytes, path: bytes) -> Operation | None:
        known = paths.canonical_path(path, self._base)
        return None if known is None else self.table.find_operation(_decode_text(method), known)

    def authorize_upload(self, request: ServiceRequest, method: bytes, target: bytes) -> None:
        """Authorize the sender of a large body while the body arrives, or refuse the body."""
        path = target.partition(b"?")[0]

        async def authorize_sender() -> None:
            try:
                known = paths.canonical_path(path, self._base)
                visit = self._gate.check_host_and_origin(request, _decode_text(method), known)
                await self._gate.identify_caller(visit, self._find_operation(method, path))
            except HttpRefusal as refusal:
                request.refuse_body(refusal)

        spawn_logged(authorize_sender(), self._log, "authorizing an upload")

    def _spawn_writer(
        self, request: ServiceRequest, work: Coroutine[Any, Any, bytes | None]
    ) -> None:
        async def write_response() -> None:
            content = await work
            if request.gone:
                return
            if content is not None:
                request.write(content)
            request.finish()

        spawn_logged(write_response(), self._log, "an answer")

    def _end_response(self, request: ServiceRequest, response: HttpResponse) -> None:
        request.write(self._prepare_response(request, response))
        request.finish()

    def _prepare_response(self, request: ServiceRequest, response: HttpResponse) -> bytes:
        request.setResponseCode(response.status, responses.get(response.status, "").encode())
        headers = request.responseHeaders
        if response.content_type:
            headers.setRawHeaders("Content-Type", [response.content_type])
        if response.status not in (204, 304):
            headers.setRawHeaders("Content-Length", [str(len(response.content))])
        self._put_headers(request, response.headers)
        return response.content

    def _put_headers(self, request: ServiceRequest, headers: Mapping[str, str]) -> None:
        for name, value in headers.items():
            request.responseHeaders.setRawHeaders(name, [value])

    async def _serve_operation(
        self, request: ServiceRequest, operation: Operation, path: Mapping[str, str]
    ) -> bytes | None:
        request.route = operation.path
        if operation.deprecated is not None:
            self._warn_deprecated(request, operation.deprecated)
        values = decode_path_arguments(operation, path)
        if values is None:
            return await self._serve_unmatched(request, HTTPException())
        return await self._write_large(request, self._authorize_call(request, operation, values))

    def _warn_deprecated(self, request: ServiceRequest, family: str) -> None:
        """Add a deprecation header for the caller, and log a warning once (protocol-versioning)."""
        request.responseHeaders.setRawHeaders("Deprecation", ["true"])
        if family not in self._warned:
            self._warned.add(family)
            self._log.warn("{family} are deprecated but still in use", family=family)

    async def _serve_unmatched(self, request: ServiceRequest, error: HTTPException) -> bytes | None:
        return await self._write_large(request, self._answer_unmatched(request, error))

    async def _write_large(
        self, request: ServiceRequest, work: Coroutine[Any, Any, HttpResponse | None]
    ) -> bytes | None:
        """Write a large response at the client's pace; return any other content, to be written by
        the caller.
        """
        content = await self._run_converting_errors(request, work)
        if content is None or not is_written_in_pieces(len(content)):
            return content
        await write_in_pieces(request, content)
        return None

    async def _run_converting_errors(
        self, request: ServiceRequest, work: Coroutine[Any, Any, HttpResponse | None]
    ) -> bytes | None:
        """Turn any outcome of C{work} into one response, without details of internal errors."""
        try:
            response = await work
        except HttpRefusal as refusal:
            response = refusal.response
        except ServiceError as error:
            response = envelope.make_failure_response(error)
        except CancelledError:
            if request.gone:
                raise
            response = self._log_fault(request) if not request.startedWriting else NO_PAGE
        except Exception as error:
            reason = find_disk_problem(error)
            refused = None if reason is None else envelope.make_failure_response(DiskFull(reason))
            response = refused or self._log_fault(request)
        if response is None or request.gone:
            return None
        if request.startedWriting:
            # A stream broke off: abort the connection so that the client notices.
            request.abort()
            return None
        return self._prepare_response(request, response)

    def _log_fault(self, request: ServiceRequest) -> HttpResponse:
        number = next(self._faults)
        self._log.failure(
            "fault {number} in {method} {route}",
            number=number,
            method=_decode_text(request.method),
            route=request.route,
        )
        return envelope.make_failure_response(
            ServiceError(ErrorCode.INTERNAL_ERROR, f"Internal error (number {number} in the log)")
        )

    async def _authorize_call(
        self, request: ServiceRequest, operation: Operation, path: Path
    ) -> HttpResponse | None:
        identity = await self._identify_caller(request, operation)
        request.site.count_for_account(request, identity.username, admin=identity.admin)
        try:
            self._gate.authorize_call(request.visit, identity, operation, path)
            if operation.allowed is not None:
                operation.allowed()
            again = partial(self._gate.reauthorize_call, request.visit, identity, operation, path)
            caller = Caller.from_identity(identity, again)
            call = await _make_call(request, operation, caller, path)
            if request.received_bytes > LONG_TEXT:
                _reauthorize_request(request, caller)  # rights may have changed in between
        except ServiceError as error:
            if operation.style is not ResponseStyle.WEBSOCKET or not request.visit.upgrade:
                raise
            await self._sockets.refuse_socket(request, error)
            return None
        if operation.style is ResponseStyle.WEBSOCKET:
            await self._sockets.serve_socket(call)
            return None
        try:
            result = await self._run_handler(call)
        except BaseException as error:
            # Also after a cancellation: the client left, but the operation may have had an effect.
            self._notify_listener(call, error)
            if isinstance(error, (HttpRefusal, ServiceError, CancelledError)):
                # The response holds no details of other failures; the log has them.
                self._reauthorize_after_wait(request, call)
            raise
        self._notify_listener(call, result)
        if operation.style is ResponseStyle.STREAM:
            return None
        self._reauthorize_after_wait(request, call)
        response = envelope.make_success_response(result, operation.style)
        self._large.count_response(request, identity.username, len(response.content))
        return response

    async def _run_handler(self, call: OperationCall) -> object:
        lasts = call.operation.style in (ResponseStyle.LONG_POLL, ResponseStyle.STREAM)
        if lasts or call.operation.streams or call.operation.waits:
            return await self._parked.run_call(call)
        if call.operation.large(call.query):
            return await self._large.run_call(call)
        return await call.operation.handler(call)

    def _reauthorize_after_wait(self, request: ServiceRequest, call: OperationCall) -> None:
        """Check the caller's rights again, since the handler may have taken minutes.

        @raise HttpRefusal: the caller is no longer signed in.
        @raise ServiceError: the caller has lost a right.
        """
        if call.operation.ends_access or request.gone or request.startedWriting:
            return
        _reauthorize_request(request, call.caller)

    def _notify_listener(self, call: OperationCall, outcome: object) -> None:
        try:
            self._heard(call, outcome)
        except Exception:
            self._log.failure("recording a call of {route} failed", route=call.operation.path)

    async def _identify_caller(
        self, request: ServiceRequest, operation: Operation | None
    ) -> Identity:
        passed = await self._gate.identify_caller(request.visit, operation)
        if passed.set_cookie is not None:
            request.responseHeaders.addRawHeader("Set-Cookie", passed.set_cookie)
        if passed.key_wanted:
            request.responseHeaders.setRawHeaders(page_key.HEADER, [page_key.WANTED])
        return passed.identity

    async def _answer_unmatched(
        self, request: ServiceRequest, error: HTTPException
    ) -> HttpResponse:
        """Answer a request that matches no operation: a page, a wrong method or an unknown path."""
        visit = request.visit
        page = None
        if visit.path is not None and visit.method in ("GET", "HEAD"):
            page = self._pages.find_page(visit.path, visit)
        if page is not None:
            request.visit = visit = evolve(visit, page=True)
        elif (answer := self._strays(request)) is not None:
            return answer
        if page is None or not page.public:
            identity = await self._identify_caller(request, None)
            self._gate.authorize_call(visit, identity, None, {})
        if page is not None:
            return page
        shown = paths.clean_path(request.path)
        if isinstance(error, MethodNotAllowed):
            return _make_method_response(visit.method, shown, error)
        if not paths.is_api_path(visit.path):
            return NO_PAGE
        return envelope.make_no_route_response(visit.method, shown)


async def _make_call(
    request: ServiceRequest, operation: Operation, caller: Caller, path: Path
) -> OperationCall:
    """Validate C{request} and return its call.

    @raise ServiceError: the operation does not accept the query or the body.
    """
    bounds = operation.body_limits
    if request.received_bytes > bounds.size and request.incoming is None:
        raise make_size_error(bounds.size)
    query = body = None
    if operation.query is not None:
        query = read_query(request.args, operation.query)
    if operation.body is not None:
        raw, kind = request.content.read(), request.getHeader("content-type") or ""
        optional, clock = operation.optional_body, request.site.reactor
        body = await read_body_yielding(raw, kind, operation.body, optional, bounds.values, clock)
    elif operation.has_no_body:
        check_empty_body(request.content.read(), request.getHeader("content-type") or "")
    return OperationCall(
        operation=operation, caller=caller, path=path, query=query, body=body,
        address=request.visit.address, request=request,
        incoming=request.incoming or IncomingBody(),
    )  # fmt: skip


def _reauthorize_request(request: ServiceRequest, caller: Caller) -> None:
    try:
        caller.reauthorize()
    except (HttpRefusal, ServiceError):
        request.responseHeaders.removeHeader("Set-Cookie")
        raise


def _make_method_response(method: str, shown: str, error: MethodNotAllowed) -> HttpResponse:
    allowed = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
    if method == "OPTIONS":
        return HttpResponse(status=204, content_type="", headers={"Allow": allowed})
    return envelope.make_wrong_method_response(method, shown, allowed)


def _refusal_response(why: HttpRefusal | ServiceError) -> HttpResponse:
    return why.response if isinstance(why, HttpRefusal) else envelope.make_failure_response(why)


def _decode_text(word: bytes) -> str:
    return word.decode("ascii", "backslashreplace")
