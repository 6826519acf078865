"""Transport on a Twisted reactor. It uses treq for the API, and the reactor's selector for
streams.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from treq.client import HTTPClient
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.error import ConnectError, ConnectionClosed, DNSLookupError
from twisted.internet.interfaces import IReadWriteDescriptor, IStreamClientEndpoint
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure
from twisted.web.client import URI, Agent, ResponseDone, ResponseFailed
from twisted.web.http import PotentialDataLoss
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer

from tservice.client.errors import Unusable, unwrap_envelope
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import BOUND, TIMEOUT, ResponseLost, build_target, check_complete
from tservice.client.link.connection import PATIENCE, format_address
from tservice.client.link.stream import TerminalConnection
from tservice.client.link.websocket import WebSocket

PINNED = (
    "a pinned fingerprint works with the blocking client only; trust a copy of the certificate"
    " by SSL_CERT_FILE"
)
FAULTS = (ConnectError, ConnectionClosed, DNSLookupError, ResponseFailed, CancelledError, OSError)
"""Exceptions of a request that received no response."""


class ReactorWire:
    """L{Wire} whose coroutines wait for Deferreds, in the reactor's thread."""

    def __init__(self, reactor: Any, address: ServiceAddress, agent: Any = None) -> None:
        """Create a transport.

        @param reactor: a running reactor.
        @param agent: HTTP agent that sends the requests. C{None} creates one for the address.
        @raise Unusable: the address pins a certificate, which this transport cannot check.
        """
        if address.fingerprint:
            raise Unusable(PINNED)
        self._reactor, self._address = reactor, address
        self._agent = agent or _make_agent(reactor, address)

    async def send_request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return the payload of the response."""
        late = False

        def expire() -> None:
            nonlocal late
            late = True
            exchange.cancel()

        url = format_address(self._address._replace(unix="")) + build_target(path, query)
        exchange = Deferred.fromCoroutine(self._send_and_read(method, url, body))
        timer = self._reactor.callLater(TIMEOUT + wait_ms / 1000, expire)
        try:
            status, content = await exchange
        except FAULTS as error:
            if not late and _is_cancelled(error):
                raise CancelledError from None
            raise ResponseLost(self._explain_error(error, late)) from None
        finally:
            if timer.active():
                timer.cancel()
        return unwrap_envelope(status, content)

    async def _send_and_read(self, method: str, url: str, body: object) -> tuple[int, bytes]:
        headers: dict[bytes | str, bytes | str] = {}
        if self._address.authorization:
            headers["Authorization"] = self._address.authorization
        if body is not None:
            headers["Content-Type"] = "application/json"
        # A new client each time, as it keeps cookies.  A token must not follow a redirect.
        response = await HTTPClient(self._agent).request(
            method,
            url,
            headers=headers,
            data=None if body is None else json.dumps(body).encode(),
            allow_redirects=False,
            unbuffered=True,
            reactor=self._reactor,
        )
        body_of = _AnswerCollector()
        response.deliverBody(body_of)
        content = await body_of.ended
        check_complete(response.code, content, body_of.marked)
        return response.code, content

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds while the reactor runs."""
        await deferLater(self._reactor, seconds)

    def open_stream(
        self, session_id: str, epoch: str | None, offset: int | None
    ) -> TerminalConnection:
        """Return the terminal stream of a session. It is not connected yet."""
        return TerminalConnection(self._address, session_id, epoch, offset)

    async def connect_stream(self, stream: TerminalConnection) -> None:
        """Connect a terminal stream in a thread, because name lookup, TLS and the handshake take
        time.
        """
        wanted = True

        def work() -> None:
            stream.connect()
            if not wanted:
                stream.close()

        try:
            await deferToThreadPool(self._reactor, self._reactor.getThreadPool(), work)
        except CancelledError:
            wanted = False
            stream.close()
            raise

    async def wait_ready(self, stream: TerminalConnection) -> None:
        """Wait until the reactor reports that the stream's socket is readable, or writable if data
        is unsent.
        """
        socket = stream.socket
        if socket is not None and not socket.has_pending_data:
            await _ReadinessWaiter(self._reactor, socket).fired

    def _explain_error(self, error: Exception, late: bool) -> str:
        if late:
            return f"{format_address(self._address)} does not answer in time"
        reasons = getattr(error, "reasons", None)
        reason = reasons[0].value if reasons else error
        return f"cannot reach {format_address(self._address)}: {reason}"


class _AnswerCollector(Protocol):
    """Protocol that collects the body of a response.

    @ivar ended: Deferred that fires with the whole body, or fails with C{Unusable} if it is too
        long.
    @ivar marked: true if the response announced its end, for example by its length.
    """

    def __init__(self) -> None:
        self.ended: Deferred[bytes] = Deferred(lambda _: self._abort_transfer())
        self.marked = True
        self._data = bytearray()

    def dataReceived(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > BOUND and not self.ended.called:
            self._abort_transfer()
            self.ended.errback(Unusable("the answer is too long"))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self.ended.called:
            return
        self.marked = reason.check(PotentialDataLoss) is None
        if reason.check(ResponseDone, PotentialDataLoss):
            self.ended.callback(bytes(self._data))
        else:
            self.ended.errback(reason)

    def _abort_transfer(self) -> None:
        self._data.clear()
        if self.transport is not None:
            self.transport.loseConnection()


def _is_cancelled(error: Exception) -> bool:
    reasons = getattr(error, "reasons", ())
    return isinstance(error, CancelledError) or any(each.check(CancelledError) for each in reasons)


@implementer(IReadWriteDescriptor)
class _ReadinessWaiter:
    """Selectable that fires once when a socket is readable, or writable if data is unsent."""

    def __init__(self, reactor: Any, socket: WebSocket) -> None:
        self._reactor, self._number = reactor, socket.fileno()
        self.fired: Deferred[None] = Deferred(lambda _: self._unregister())
        reactor.addReader(self)
        if socket.unsent:
            reactor.addWriter(self)

    def fileno(self) -> int:
        return self._number

    def logPrefix(self) -> str:
        return "terminal"

    def doRead(self) -> None:
        self._unregister()
        self.fired.callback(None)

    doWrite = doRead

    def connectionLost(self, reason: Failure) -> None:
        """Fire, because the reactor stops or the socket is broken. The next read raises the
        error.
        """
        self._unregister()
        if not self.fired.called:
            self.fired.callback(None)

    def _unregister(self) -> None:
        self._reactor.removeReader(self)
        self._reactor.removeWriter(self)


@implementer(IAgentEndpointFactory)
class _UnixEndpointFactory:
    def __init__(self, reactor: Any, path: str) -> None:
        self._reactor, self._path = reactor, path

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:
        return UNIXClientEndpoint(self._reactor, self._path, timeout=PATIENCE)


def _make_agent(reactor: Any, address: ServiceAddress) -> Agent:
    if address.unix:
        found: Agent = Agent.usingEndpointFactory(
            reactor, _UnixEndpointFactory(reactor, address.unix)
        )
        return found
    return Agent(reactor, connectTimeout=PATIENCE)
