"""One request: its body bounded while it arrives, and what the kernel notes about it."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, AnyStr

from twisted.internet.interfaces import IProtocol
from twisted.python.failure import Failure
from twisted.web import server
from twisted.web.http import datetimeToString

from tservice.core.errors import invalid
from tservice.http.body import too_large
from tservice.http.bounds import JSON_BODY_LIMIT, LEAST_BODY_LIMIT
from tservice.http.connections.channel import LINGER_BYTES, Channel
from tservice.http.connections.parts import RequestServer
from tservice.http.envelope import Refusal, bare
from tservice.http.transfer.incoming import Incoming

if TYPE_CHECKING:
    from tservice.core.authentication import Visit
    from tservice.core.errors import ServiceError

FORM = "multipart/form-data"
"""The type of the bodies that a handler may read while they arrive."""

HANG_UP = 499
"""The status that metrics see when the client left before its answer."""

SWITCHED = 101
_NO_METHOD = server.Request.method

CRUMBS, CRUMB_BYTES = 1000, 64
"""So many pieces of a body that is taken in before anybody is asked may be shorter than that, or
than that on average where they came together: a read holds ten thousand chunks of a byte."""

PARAMETERS = 1000
"""In a query string: each costs a microsecond before anybody is asked, and a head holds 16,000."""

BUSY = bare(503, "Service Unavailable", {"Retry-After": "1"})


class Request(server.Request):
    """A request of our L{RequestServer<tservice.http.site.Site>}.

    @ivar visit: what the gate made of it.
    @ivar gone: the client hung up; nothing can be written any more.
    @ivar route: the path pattern that matched, for metrics.
    @ivar started: when processing began, in the clock's seconds.
    @ivar refusal: why the body was not taken in, if it was not.
    @ivar incoming: the body, where the handler reads it while it arrives.
    """

    site: RequestServer  # type: ignore[assignment]
    channel: Any
    content: Any
    visit: Visit
    gone = False
    broken = False
    route = "none"
    started = 0.0
    refusal: ServiceError | Refusal | None = None
    incoming: Incoming | None = None
    _received = 0
    _crumbs = 0
    _held = 0
    _dropped = 0
    _bound: int | None = None
    _vouched = False

    def __init__(self, channel: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(channel, *args, **kwargs)
        self.site = channel.site
        self.own(None)

    def own(self, account: str | None) -> None:
        """Have its connection known as that of C{account}, until the next request comes on it."""
        # Over HTTP/2 a channel is one stream of the connection.
        connection = getattr(self.channel, "_conn", self.channel)
        connection.owner = account

    def getRequestHostname(self) -> bytes:
        """A constant: the gate judges the Host header, and routing never looks at it."""
        return b"localhost"

    def header_values(self, name: str) -> list[str]:
        """Every value of a header, whatever bytes were sent.

        twisted.web raises for what is not UTF-8.  Here U+FFFD stands for it: no name of a host, no
        origin, secret or number holds one, so it is nobody's, and text around it can be read.
        """
        values: Sequence[bytes] = self.requestHeaders.getRawHeaders(name.encode()) or ()
        return [value.decode("utf-8", "replace") for value in values]

    def getHeader(self, key: AnyStr) -> AnyStr | None:
        """The last value of a header, or C{None}; as text it is one of L{header_values}."""
        if isinstance(key, bytes):
            return super().getHeader(key)
        values = self.header_values(key)
        return values[-1] if values else None

    def gotLength(self, length: int | None) -> None:
        self.content = _content_file(length)
        if length is not None and length > LEAST_BODY_LIMIT:
            bound = self._look_up_bound()
            if length > bound:
                self._refuse(too_large(bound))

    def hold_head(self, size: int) -> None:
        """Count the head among what is held, where many requests arrive on one connection."""
        if self.handled or self.gone:
            return
        if self.site.hold(size):
            self._held += size
        else:
            self._refuse(BUSY)

    def handleContentChunk(self, data: bytes, pieces: int = 1) -> None:
        """Take in more of the body, that came in so many C{pieces}."""
        self._crumbs += max(0, pieces - len(data) // CRUMB_BYTES)
        if self.incoming is not None:
            self._pass_on(self.incoming, data)
            return
        if self._received == 0 and self.refusal is None and self._is_streamed():
            self._stream(data)
            return
        if self.refusal is None:
            self._received += len(data)
            self._weigh(len(data))
        if self.refusal is None and self._crumbs > CRUMBS:
            self._refuse(invalid("body", f"must not come in more than {CRUMBS} tiny pieces"))
        if self.refusal is not None:
            self._drop(len(data))
            return
        self._held += len(data)
        self.content.write(data)

    def _is_streamed(self) -> bool:
        kind = (self.getHeader("content-type") or "").partition(";")[0].strip().lower()
        method, target = self._head()
        path = target.partition(b"?")[0]
        return self.site.kernel.is_streamed(method, path, kind == FORM)

    def _stream(self, data: bytes) -> None:
        """Have the request handled now, though its body has only begun to arrive."""
        self.content.close()
        self.content = BytesIO()
        channel, plain = self.channel, isinstance(self.channel, Channel)
        hold = channel.hold_body if plain else channel.pauseProducing
        go_on = channel.go_on if plain else channel.resumeProducing
        self.incoming = Incoming(hold, go_on, complete=False)
        self._look_up_bound()
        self._pass_on(self.incoming, data)
        if plain:
            channel.stream(self)
        else:
            self.requestReceived(channel.command, channel.path, b"HTTP/2")

    def _pass_on(self, incoming: Incoming, data: bytes) -> None:
        self._received += len(data)
        if self._bound is not None and self._received > self._bound:
            incoming.refuse(too_large(self._bound))
        elif self._crumbs > CRUMBS + self._received // CRUMB_BYTES:
            incoming.refuse(invalid("body", f"must not come in more than {CRUMBS} tiny pieces"))
        if self.thrown:
            self._drop(len(data))
        incoming.feed(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """All of it is here; what is handled already hears that nothing more comes."""
        if self.handled:
            self.body_ended()
            return
        plain, _, query = path.partition(b"?")
        if query.count(b"&") + query.count(b";") >= PARAMETERS:
            self.refusal = invalid("query", f"must not have more than {PARAMETERS} parameters")
            path = plain
        super().requestReceived(command, path, version)

    def body_ended(self) -> None:
        """The last of a streamed body is here."""
        if self.incoming is not None:
            self.incoming.end()

    async def settle(self) -> None:
        """Wait until an answer can be given: over HTTP/2, for the end of an unread body."""
        if self.incoming is not None and not isinstance(self.channel, Channel):
            await self.incoming.drain()

    def _weigh(self, size: int) -> None:
        """Refuse the body when it grew too large, or its sender may not send such a one."""
        if self._received > LEAST_BODY_LIMIT:
            bound = self._look_up_bound() if self._bound is None else self._bound
            if self._received > bound:
                self._refuse(too_large(bound))
        if self.refusal is None and self._received > JSON_BODY_LIMIT and not self._vouched:
            self._vouched = True
            self.site.kernel.vouch(self, *self._head())
        if self.refusal is None and not self.site.hold(size):
            self._refuse(BUSY)

    def _look_up_bound(self) -> int:
        method, target = self._head()
        self._bound = self.site.kernel.body_bound(method, target.partition(b"?")[0])
        return self._bound

    def _head(self) -> tuple[bytes, bytes]:
        if isinstance(self.channel, Channel):
            return self.channel.head[:2]
        return self.channel.command, self.channel.path

    def refuse(self, why: ServiceError | Refusal) -> None:
        """Stop taking the body in; no-op once the request is being handled."""
        if not self.gone and self.refusal is None and not self.handled:
            self._refuse(why)

    def _refuse(self, why: ServiceError | Refusal) -> None:
        self.refusal = why
        self.content.close()
        self.content = BytesIO()
        self._let_go()
        # HTTP/2 has no early end of a stream here: there the answer waits for the body's end.
        if isinstance(self.channel, Channel):
            self.channel.refuse(self)

    def _drop(self, size: int) -> None:
        self._dropped += size
        if self._dropped > LINGER_BYTES and not isinstance(self.channel, Channel):
            self.channel.abortConnection()

    def _let_go(self) -> None:
        self.site.hold(-self._held)
        self._held = 0

    def answer_early(self, method: bytes, target: bytes, version: bytes) -> None:
        """Have it handled from the head alone; the connection ends with the answer."""
        self.setHeader(b"connection", b"close")
        self.requestReceived(method, target, version)

    def process(self) -> None:
        """Hand the request to the kernel."""
        self.started = self.site.reactor.seconds()
        self.responseHeaders.setRawHeaders(b"Date", [datetimeToString()])
        self.prepath = []
        self.postpath = []
        try:
            self.site.kernel.render(self)
        except Exception:
            self.processingFailed(Failure())

    @property
    def can_upgrade(self) -> bool:
        """Whether the connection can turn into another protocol: not over HTTP/2."""
        return isinstance(self.channel, Channel)

    def upgrade(self, protocol: IProtocol, first: bytes) -> None:
        """Turn the connection into C{protocol}'s, which hears C{first} before all else."""
        self.code = SWITCHED
        self.channel.upgrade(protocol, first)

    def finish(self) -> None:
        """End the answer; there is nothing to end once the connection is gone."""
        if not (self.gone or self.broken):
            super().finish()

    def abort(self) -> None:
        """Cut the connection, so that the client sees an unfinished answer."""
        self.broken = True
        self.channel.abortConnection()

    @property
    def handled(self) -> bool:
        """Whether all of it is here, so that an answer is under way."""
        return self.method != _NO_METHOD

    @property
    def thrown(self) -> bool:
        """Whether nobody reads what still comes of a streamed body."""
        return self.incoming is not None and self.incoming.thrown

    @property
    def held(self) -> int:
        """Bytes of the body that take up memory or disk."""
        return self._held

    @property
    def received(self) -> int:
        """Bytes of the body."""
        return self._received

    def _cleanup(self) -> None:
        self._let_go()
        super()._cleanup()

    def connectionLost(self, reason: Failure) -> None:
        self.gone = True
        self._let_go()
        super().connectionLost(reason)  # ends the handler by its Deferred
        if self.incoming is not None:
            self.incoming.lose()
        if self.handled:
            self.code = self.code if self.code == SWITCHED else HANG_UP
            self.site.log(self)


def _content_file(length: int | None) -> IO[bytes]:
    """Memory for what JSON may take, a temporary file for what only uploads may."""
    if length is not None and length <= JSON_BODY_LIMIT:
        return BytesIO()
    return SpooledTemporaryFile(max_size=JSON_BODY_LIMIT)
