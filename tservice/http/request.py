"""Request whose body is limited while it arrives, with data that the kernel records about it."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, AnyStr

from twisted.internet.interfaces import IProtocol
from twisted.python.failure import Failure
from twisted.web import server
from twisted.web.http import datetimeToString

from tservice.core.kernel.errors import make_field_error
from tservice.http.connections.channel import Http1Channel
from tservice.http.connections.interfaces import RequestServer
from tservice.http.envelope import HttpRefusal, make_bare_refusal
from tservice.http.transfer.request_body import IncomingBody
from tservice.http.validation.body import make_size_error
from tservice.http.validation.body_limits import JSON_BODY_LIMIT, LEAST_BODY_LIMIT

if TYPE_CHECKING:
    from tservice.core.callers.authentication import AuthenticationRequest
    from tservice.core.kernel.errors import ServiceError

FORM = "multipart/form-data"
"""Media type of the bodies that a handler may read while they arrive."""

HANG_UP = 499
"""Status that the metrics record if the client disconnected before its response."""

SWITCHED = 101
_NO_METHOD = server.Request.method

MAX_TINY_CHUNKS, TINY_CHUNK_BYTES = 1000, 64
"""Limit on the tiny chunks of an unauthenticated body, and the size in bytes below which a chunk is
tiny (the average for chunks of one read): a read may hold ten thousand chunks of one byte."""

PARAMETERS = 1000
"""Limit on the parameters of a query string.

Parsing one costs a microsecond before authentication, and the request line can hold 16,000.
"""

BUSY = make_bare_refusal(503, "Service Unavailable", {"Retry-After": "1"})


class ServiceRequest(server.Request):
    """Request of a L{RequestServer<tservice.http.connections.interfaces.RequestServer>}.

    @ivar visit: the request's data for authentication, set by the gate.
    @ivar gone: true if the client has disconnected, so nothing can be written.
    @ivar route: the path pattern that matched, for metrics.
    @ivar started: time when processing began, in the clock's seconds.
    @ivar refusal: the reason why the body was refused.  C{None} if it was not.
    @ivar incoming: the body, if the handler reads it while it arrives; otherwise C{None}.
    """

    site: RequestServer  # type: ignore[assignment]
    channel: Http1Channel
    content: Any
    visit: AuthenticationRequest
    gone = False
    broken = False
    route = "none"
    started = 0.0
    refusal: ServiceError | HttpRefusal | None = None
    incoming: IncomingBody | None = None
    _received = 0
    _crumbs = 0
    _held = 0
    _bound: int | None = None
    _vouched = False

    def __init__(self, channel: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(channel, *args, **kwargs)
        self.site = channel.site
        self.set_owner(None)

    def set_owner(self, account: str | None) -> None:
        """Assign its connection to C{account} until the next request on it."""
        self.channel.owner = account

    def getRequestHostname(self) -> bytes:
        """Return a constant, because the gate checks the Host header and routing does not
        use it.
        """
        return b"localhost"

    def header_values(self, name: str) -> list[str]:
        """Return every value of a header, whatever bytes were sent.

        twisted.web raises for values that are not UTF-8.  Here U+FFFD replaces such bytes: no host
        name, origin, secret or number contains it, so the value matches nothing, and the
        surrounding text stays readable.
        """
        values: Sequence[bytes] = self.requestHeaders.getRawHeaders(name.encode()) or ()
        return [value.decode("utf-8", "replace") for value in values]

    def getHeader(self, key: AnyStr) -> AnyStr | None:
        """Return the last value of a header, cleaned as by L{header_values}; C{None} if it is
        missing.
        """
        if isinstance(key, bytes):
            return super().getHeader(key)
        values = self.header_values(key)
        return values[-1] if values else None

    def gotLength(self, length: int | None) -> None:
        self.content = _make_body_file(length)
        if length is not None and length > LEAST_BODY_LIMIT:
            bound = self._find_body_limit()
            if length > bound:
                self._answer_body_refusal(make_size_error(bound))

    def handleContentChunk(self, data: bytes, pieces: int = 1) -> None:
        """Add data to the body.

        @param pieces: number of chunks in which the data arrived.
        """
        self._crumbs += max(0, pieces - len(data) // TINY_CHUNK_BYTES)
        if self.incoming is not None:
            self._add_to_streamed_body(self.incoming, data)
            return
        if self._received == 0 and self.refusal is None and self._is_streamed():
            self._start_streaming(data)
            return
        if self.refusal is None:
            self._received += len(data)
            self._check_size(len(data))
        if self.refusal is None and self._crumbs > MAX_TINY_CHUNKS:
            self._answer_body_refusal(
                make_field_error(
                    "body", f"must not be sent in more than {MAX_TINY_CHUNKS} tiny chunks"
                )
            )
        if self.refusal is not None:
            return
        self._held += len(data)
        self.content.write(data)

    def _is_streamed(self) -> bool:
        kind = (self.getHeader("content-type") or "").partition(";")[0].strip().lower()
        method, target = self.channel.request_line[:2]
        path = target.partition(b"?")[0]
        return self.site.kernel.is_streamed(method, path, kind == FORM)

    def _start_streaming(self, data: bytes) -> None:
        """Start the handler before the body is complete; C{data} is the first part of the body."""
        self.content.close()
        self.content = BytesIO()
        self.incoming = IncomingBody(
            self.channel.pause_body, self.channel.resume_body, complete=False
        )
        self._find_body_limit()
        self._add_to_streamed_body(self.incoming, data)
        self.channel.start_streamed_handler(self)

    def _add_to_streamed_body(self, incoming: IncomingBody, data: bytes) -> None:
        self._received += len(data)
        if self._bound is not None and self._received > self._bound:
            incoming.refuse_body(make_size_error(self._bound))
        elif self._crumbs > MAX_TINY_CHUNKS + self._received // TINY_CHUNK_BYTES:
            incoming.refuse_body(
                make_field_error(
                    "body", f"must not be sent in more than {MAX_TINY_CHUNKS} tiny chunks"
                )
            )
        incoming.add_data(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """Handle the request."""
        plain, _, query = path.partition(b"?")
        if query.count(b"&") + query.count(b";") >= PARAMETERS:
            self.refusal = make_field_error(
                "query", f"must not have more than {PARAMETERS} parameters"
            )
            path = plain
        super().requestReceived(command, path, version)

    def body_ended(self) -> None:
        """Signal the end of a streamed body."""
        if self.incoming is not None:
            self.incoming.set_complete()

    def _check_size(self, size: int) -> None:
        """Refuse the body if C{size} exceeds the route's limit, or the sender may not send
        so much.
        """
        if self._received > LEAST_BODY_LIMIT:
            bound = self._find_body_limit() if self._bound is None else self._bound
            if self._received > bound:
                self._answer_body_refusal(make_size_error(bound))
        if self.refusal is None and self._received > JSON_BODY_LIMIT and not self._vouched:
            self._vouched = True
            self.site.kernel.authorize_upload(self, *self.channel.request_line[:2])
        if self.refusal is None and not self.site.reserve_body_bytes(size):
            self._answer_body_refusal(BUSY)

    def _find_body_limit(self) -> int:
        method, target = self.channel.request_line[:2]
        self._bound = self.site.kernel.get_body_limit(method, target.partition(b"?")[0])
        return self._bound

    def refuse_body(self, why: ServiceError | HttpRefusal) -> None:
        """Stop receiving the body and respond with C{why}; no-op once the request is being
        handled.
        """
        if not self.gone and self.refusal is None and not self.is_complete:
            self._answer_body_refusal(why)

    def _answer_body_refusal(self, why: ServiceError | HttpRefusal) -> None:
        self.refusal = why
        self.content.close()
        self.content = BytesIO()
        self._release_reserved_memory()
        self.channel.respond_before_body_end(self)

    def _release_reserved_memory(self) -> None:
        self.site.reserve_body_bytes(-self._held)
        self._held = 0

    def answer_early(self, method: bytes, target: bytes, version: bytes) -> None:
        """Handle the request without its body; the connection is closed after the response."""
        self.setHeader(b"connection", b"close")
        self.requestReceived(method, target, version)

    def process(self) -> None:
        """Pass the request to the kernel."""
        self.started = self.site.reactor.seconds()
        self.responseHeaders.setRawHeaders(b"Date", [datetimeToString()])
        self.prepath = []
        self.postpath = []
        try:
            self.site.kernel.render(self)
        except Exception:
            self.processingFailed(Failure())

    def upgrade_connection(self, protocol: IProtocol, first: bytes) -> None:
        """Switch the connection to C{protocol}, which receives C{first} before any other data."""
        self.code = SWITCHED
        self.channel.upgrade(protocol, first)

    def finish(self) -> None:
        """End the response; no-op once the connection has ended."""
        if not (self.gone or self.broken):
            super().finish()

    def abort(self) -> None:
        """Abort the connection, so that the client sees an incomplete response."""
        self.broken = True
        self.channel.abortConnection()

    @property
    def is_complete(self) -> bool:
        """True if the request has arrived completely, so its response is in progress."""
        return self.method != _NO_METHOD

    @property
    def discards_rest(self) -> bool:
        """True if the rest of a streamed body is discarded."""
        return self.incoming is not None and self.incoming.discards_rest

    @property
    def held_bytes(self) -> int:
        """Number of bytes of the body in memory or on disk."""
        return self._held

    @property
    def received_bytes(self) -> int:
        """Number of bytes of the body."""
        return self._received

    def _cleanup(self) -> None:
        self._release_reserved_memory()
        super()._cleanup()

    def connectionLost(self, reason: Failure) -> None:
        self.gone = True
        self._release_reserved_memory()
        super().connectionLost(reason)  # cancels the handler through its Deferred
        if self.incoming is not None:
            self.incoming.handle_disconnect()
        if self.is_complete:
            self.code = self.code if self.code == SWITCHED else HANG_UP
            self.site.log(self)


def _make_body_file(length: int | None) -> IO[bytes]:
    """Return a file for a body: in memory for sizes of JSON, a temporary file for larger uploads.

    @param length: size of the body in bytes.  C{None} if it is unknown.
    """
    if length is not None and length <= JSON_BODY_LIMIT:
        return BytesIO()
    return SpooledTemporaryFile(max_size=JSON_BODY_LIMIT)
