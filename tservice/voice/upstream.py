"""WebSocket connection to a speech service, with Autobahn and the egress guard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from attrs import field, frozen
from autobahn.twisted.websocket import WebSocketClientFactory, WebSocketClientProtocol
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IPushProducer, IStreamClientEndpoint
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web.client import BrowserLikePolicyForHTTPS
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from tservice.core.net.egress import GUARDED, EgressPolicy, parse_target
from tservice.core.net.guarded import GuardedEndpoint

HEAD_BYTES = 16 * 1024
"""Largest head of the handshake's answer in bytes."""

MESSAGE_BYTES = 64 * 1024
"""Largest message of the speech service in bytes."""

MESSAGE_PARTS = 64
"""Limit of fragments of a message; empty fragments add no bytes, but are kept until the
last one.
"""


class UpstreamListener(Protocol):
    """Listener to a connection."""

    def connection_opened(self, line: UpstreamConnection) -> None:
        """Handle the completed handshake."""

    def message_received(self, message: bytes) -> None:
        """Handle a text message."""

    def buffer_filled(self) -> None:
        """Handle a full buffer: the connection accepts no more data."""

    def buffer_drained(self) -> None:
        """Handle a drained buffer: the connection accepts data again."""

    def connection_ended(self, clean: bool) -> None:
        """Handle the end; called exactly once as the last call, even if the connection never
        opened.
        """


class UpstreamConnection(Protocol):
    """Connection to a speech service."""

    def send_audio(self, sound: bytes) -> None:
        """Send speech."""

    def send_text(self, text: str) -> None:
        """Send a message of the dialect."""

    def pause_reading(self) -> None:
        """Stop reading until L{resume_reading}."""

    def resume_reading(self) -> None:
        """Resume reading."""

    def abort_connection(self) -> None:
        """End the connection without a closing handshake."""


@frozen(kw_only=True)
class UpstreamConnectRequest:
    """Address and credentials of a connection.

    @ivar url: C{ws://} or C{wss://}.
    @ivar query: appended to the query of C{url}.
    """

    url: str
    query: str
    headers: Mapping[str, str] = field(repr=False)


@implementer(IPushProducer)
class UpstreamProtocol(WebSocketClientProtocol):
    """Autobahn protocol that reports to a listener."""

    transport: Any
    wasClean: bool
    remoteCloseCode: int | None

    def __init__(self, listener: UpstreamListener) -> None:
        super().__init__()
        self._listener = listener
        self._head = self._parts = 0

    def send_audio(self, sound: bytes) -> None:
        self.sendMessage(sound, isBinary=True)

    def send_text(self, text: str) -> None:
        self.sendMessage(text.encode(), isBinary=False)

    def pause_reading(self) -> None:
        self.transport.pauseProducing()

    def resume_reading(self) -> None:
        self.transport.resumeProducing()

    def abort_connection(self) -> None:
        self.transport.abortConnection()

    # # Called by the transport

    def connectionMade(self) -> None:
        super().connectionMade()
        self.transport.registerProducer(self, True)

    def pauseProducing(self) -> None:
        self._listener.buffer_filled()

    def resumeProducing(self) -> None:
        self._listener.buffer_drained()

    def stopProducing(self) -> None:
        """Do nothing, as no data is produced."""

    def dataReceived(self, data: bytes) -> None:
        if self.state == self.STATE_CONNECTING:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.abort_connection()
                return
        super().dataReceived(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        done = reason.check(ConnectionDone) is not None
        # Autobahn would log a refused certificate as an error of the service.
        super().connectionLost(reason if done else Failure(ConnectionLost()))
        well = self.wasClean and self.remoteCloseCode in (None, 1000, 1001)
        self._listener.connection_ended(bool(well))

    # # Called by Autobahn

    def onOpen(self) -> None:
        self._listener.connection_opened(self)

    def onMessageBegin(self, isBinary: bool) -> None:
        super().onMessageBegin(isBinary)
        self._parts = 0

    def onMessageFrameBegin(self, length: int) -> None:
        self._parts += 1
        if self._parts > MESSAGE_PARTS:
            self.abort_connection()
        super().onMessageFrameBegin(length)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        if not isBinary:
            self._listener.message_received(payload)

    def onCloseFrame(self, code: int, reasonRaw: bytes) -> bool | None:
        failed: bool | None = super().onCloseFrame(code, reasonRaw)
        # The peer should close the connection now, but might not: do not wait for it.
        self.abort_connection()
        return failed

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        """Do nothing, as L{connectionLost} reports the end."""


class UpstreamConnector:
    """Connector to speech services.  Redirects are not followed, as a secret is sent."""

    def __init__(
        self,
        reactor: Any,
        policy: EgressPolicy = GUARDED,
        *,
        tls: IPolicyForHTTPS | None = None,
    ) -> None:
        """Create a connector.

        @param tls: trusted certificates; the platform's by default.
        """
        self._reactor, self._policy = reactor, policy
        self._tls = tls or BrowserLikePolicyForHTTPS()

    def connect(self, request: UpstreamConnectRequest, listener: UpstreamListener) -> Deferred[Any]:
        """Connect without a time-out: the caller cancels the Deferred.

        @return: fails if no connection was made; the listener is not called then.
        @raise EgressRefused: the target violates the rules.
        """
        # The rules are for HTTP URLs; a WebSocket begins as an HTTP request.
        target = parse_target("http" + request.url.removeprefix("ws"), self._policy)
        joint = "&" if "?" in target.resource else "?"
        factory: Any = WebSocketClientFactory(
            f"ws{target.url.removeprefix('http')}{joint}{request.query}",
            headers=dict(request.headers),
            useragent="tservice",
            reactor=self._reactor,
        )
        factory.noisy = False
        factory.setProtocolOptions(
            version=13,
            maxMessagePayloadSize=MESSAGE_BYTES,
            maxFramePayloadSize=MESSAGE_BYTES,
            failByDrop=True,
            # These timers would run on the global reactor; a dictation has its own timers.
            openHandshakeTimeout=0,
            closeHandshakeTimeout=0,
            serverConnectionDropTimeout=0,
        )
        factory.buildProtocol = lambda address: _make_protocol(factory, listener)
        endpoint: IStreamClientEndpoint = GuardedEndpoint(
            self._reactor,
            target.host,
            target.port,
            policy=self._policy,
            resolver=self._reactor.nameResolver,
        )
        if target.scheme == "https":
            creator = self._tls.creatorForNetloc(target.host.encode(), target.port)
            endpoint = wrapClientTLS(creator, endpoint)
        return endpoint.connect(factory)


def _make_protocol(factory: Any, listener: UpstreamListener) -> UpstreamProtocol:
    protocol = UpstreamProtocol(listener)
    protocol.factory = factory
    return protocol
