"""Autobahn's part of a connection to a speech service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autobahn.twisted.websocket import WebSocketClientFactory, WebSocketClientProtocol
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IPushProducer
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.voice.upstream import UpstreamListener

HEAD_BYTES = 16 * 1024
"""Maximum size in bytes of the response headers of the handshake."""

MESSAGE_BYTES = 64 * 1024
"""Maximum size in bytes of a message from the speech service."""

MESSAGE_PARTS = 64
"""Maximum number of fragments of a message. Even empty fragments are kept until the last one
arrives.
"""


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


def make_factory(
    reactor: Any, url: str, headers: Mapping[str, str], listener: UpstreamListener
) -> Any:
    """Return the factory of one connection.

    @param url: URL that begins with C{ws://} or C{wss://}, with the query.
    """
    factory: Any = WebSocketClientFactory(
        url, headers=dict(headers), useragent="tservice", reactor=reactor
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
    return factory


def _make_protocol(factory: Any, listener: UpstreamListener) -> UpstreamProtocol:
    protocol = UpstreamProtocol(listener)
    protocol.factory = factory
    return protocol
