"""The WebSocket to a speech service, spoken by Autobahn through the egress guard."""

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
"""Bytes of the answer to a handshake."""

MESSAGE_BYTES = 64 * 1024
"""Bytes of a message of the speech service."""

MESSAGE_PARTS = 64
"""Fragments of a message; empty ones add no bytes, and are kept until the last."""


class Listener(Protocol):
    """Hears of a line."""

    def line_opened(self, line: Line) -> None:
        """It is a WebSocket now."""

    def line_said(self, message: bytes) -> None:
        """A text message came."""

    def line_filled(self) -> None:
        """It takes no more for now."""

    def line_drained(self) -> None:
        """It takes more again."""

    def line_ended(self, clean: bool) -> None:
        """It is over; called once, and last, also where it never opened."""


class Line(Protocol):
    """A connection to a speech service."""

    def send_sound(self, sound: bytes) -> None:
        """Send speech."""

    def send_text(self, text: str) -> None:
        """Send a message of the dialect."""

    def hold(self) -> None:
        """Read no more until L{release}."""

    def release(self) -> None:
        """Read on."""

    def cut(self) -> None:
        """End it without a farewell."""


@frozen(kw_only=True)
class LineRequest:
    """Where to, and how one is known there.

    @ivar url: C{ws://} or C{wss://}.
    @ivar query: joined to that of C{url}.
    """

    url: str
    query: str
    headers: Mapping[str, str] = field(repr=False)


@implementer(IPushProducer)
class UpstreamProtocol(WebSocketClientProtocol):
    """An Autobahn protocol that belongs to a listener."""

    transport: Any
    wasClean: bool
    remoteCloseCode: int | None

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self._listener = listener
        self._head = self._parts = 0

    def send_sound(self, sound: bytes) -> None:
        self.sendMessage(sound, isBinary=True)

    def send_text(self, text: str) -> None:
        self.sendMessage(text.encode(), isBinary=False)

    def hold(self) -> None:
        self.transport.pauseProducing()

    def release(self) -> None:
        self.transport.resumeProducing()

    def cut(self) -> None:
        self.transport.abortConnection()

    # What the transport calls

    def connectionMade(self) -> None:
        super().connectionMade()
        self.transport.registerProducer(self, True)

    def pauseProducing(self) -> None:
        self._listener.line_filled()

    def resumeProducing(self) -> None:
        self._listener.line_drained()

    def stopProducing(self) -> None:
        """There is nothing here that would go on."""

    def dataReceived(self, data: bytes) -> None:
        if self.state == self.STATE_CONNECTING:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.cut()
                return
        super().dataReceived(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        done = reason.check(ConnectionDone) is not None
        # Autobahn would log why a certificate was refused as an error of ours.
        super().connectionLost(reason if done else Failure(ConnectionLost()))
        well = self.wasClean and self.remoteCloseCode in (None, 1000, 1001)
        self._listener.line_ended(bool(well))

    # What Autobahn calls

    def onOpen(self) -> None:
        self._listener.line_opened(self)

    def onMessageBegin(self, isBinary: bool) -> None:
        super().onMessageBegin(isBinary)
        self._parts = 0

    def onMessageFrameBegin(self, length: int) -> None:
        self._parts += 1
        if self._parts > MESSAGE_PARTS:
            self.cut()
        super().onMessageFrameBegin(length)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        if not isBinary:
            self._listener.line_said(payload)

    def onCloseFrame(self, code: int, reasonRaw: bytes) -> bool | None:
        failed: bool | None = super().onCloseFrame(code, reasonRaw)
        # It is the other side's turn to hang up, for which it could let us wait.
        self.cut()
        return failed

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        """L{connectionLost} tells."""


class Upstreams:
    """Makes lines.  A redirect is none: nobody follows it with a secret."""

    def __init__(
        self,
        reactor: Any,
        policy: EgressPolicy = GUARDED,
        *,
        tls: IPolicyForHTTPS | None = None,
    ) -> None:
        """@param tls: which certificates are trusted; the platform's by default."""
        self._reactor, self._policy = reactor, policy
        self._tls = tls or BrowserLikePolicyForHTTPS()

    def open(self, request: LineRequest, listener: Listener) -> Deferred[Any]:
        """Connect; it has no time-out of its own: cancel the Deferred.

        @return: errbacks where no connection was made; then the listener is told nothing.
        @raise EgressRefused: the target is against the rules.
        """
        # The rules know addresses of requests; a WebSocket begins as one.
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
            # These timers would run on the global reactor; a dictation has its own.
            openHandshakeTimeout=0,
            closeHandshakeTimeout=0,
            serverConnectionDropTimeout=0,
        )
        factory.buildProtocol = lambda address: _made(factory, listener)
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


def _made(factory: Any, listener: Listener) -> UpstreamProtocol:
    protocol = UpstreamProtocol(listener)
    protocol.factory = factory
    return protocol
