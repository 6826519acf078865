"""WebSocket connection to a speech service, with Autobahn and the egress rules."""

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
"""Maximum size in bytes of the response headers of the handshake."""

MESSAGE_BYTES = 64 * 1024
"""Maximum size in bytes of a message from the speech service."""

MESSAGE_PARTS = 64
"""Maximum number of fragments of a message. Even empty fragments are kept until the last one
arrives.
"""


class UpstreamListener(Protocol):
    """Receiver of the events of a connection to a speech service."""

    def connection_opened(self, line: UpstreamConnection) -> None:
        """Handle a connection that is open, as the handshake is complete."""

    def message_received(self, message: bytes) -> None:
        """Handle a text message from the speech service."""

    def buffer_filled(self) -> None:
        """Stop sending, because the connection's buffer is full."""

    def buffer_drained(self) -> None:
        """Resume sending, because the connection's buffer has room again."""

    def connection_ended(self, clean: bool) -> None:
        """Handle the end of the connection. Called exactly once, even if the connection never
        opened.

        @param clean: true after a closing handshake.
        """


class UpstreamConnection(Protocol):
    """Connection to a speech service."""

    def send_audio(self, sound: bytes) -> None:
        """Send recorded speech."""

    def send_text(self, text: str) -> None:
        """Send a text message in the format of the speech service."""

    def pause_reading(self) -> None:
        """Stop reading messages until L{resume_reading} is called."""

    def resume_reading(self) -> None:
        """Continue to read messages."""

    def abort_connection(self) -> None:
        """Close the connection without a closing handshake."""


@frozen(kw_only=True)
class UpstreamConnectRequest:
    """URL and credentials for a connection.

    @ivar url: URL that begins with C{ws://} or C{wss://}.
    @ivar query: parameters appended to the query of C{url}.
    """

    url: str
    query: str
    headers: Mapping[str, str] = field(repr=False)


@implementer(IPushProducer)
class UpstreamProtocol(WebSocketClientProtocol):
    """Autobahn protocol that reports the events of a connection to a listener."""

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
        """Do nothing, because this protocol produces no data."""

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
        """Do nothing, because L{connectionLost} reports the end."""


class UpstreamConnector:
    """Connector to speech services. It follows no redirects, because a request contains a
    secret.
    """

    def __init__(
        self,
        reactor: Any,
        policy: EgressPolicy = GUARDED,
        *,
        tls: IPolicyForHTTPS | None = None,
    ) -> None:
        """Create a connector.

        @param policy: egress rules for the connections.
        @param tls: trusted certificates. C{None} uses those of the platform.
        """
        self._reactor, self._policy = reactor, policy
        self._tls = tls or BrowserLikePolicyForHTTPS()

    def connect(self, request: UpstreamConnectRequest, listener: UpstreamListener) -> Deferred[Any]:
        """Connect to a speech service. There is no time-out; the caller may cancel the Deferred.

        @return: Deferred that fails if no connection was made. The listener is not called in that
            case.
        @raise EgressRefused: the egress rules do not permit the target.
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
