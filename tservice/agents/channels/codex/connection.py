"""Connection to the server of one session: a WebSocket on its Unix socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from autobahn.twisted.websocket import WebSocketClientFactory, WebSocketClientProtocol
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.error import ConnectionLost
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure

MESSAGE_BYTES = 1024 * 1024
"""Maximum size of a message; a larger one ends the connection."""
UNSENT_BYTES = 256 * 1024
"""Maximum size of what the server has not taken yet; beyond it the connection ends."""
CONNECT_SECONDS = 5.0


class ServerConnection(Protocol):
    """Open connection to a server."""

    def send_message(self, payload: bytes) -> None:
        """Send a message."""

    def abort_connection(self) -> None:
        """End the connection at once."""


class ServerListener(Protocol):
    """Receiver of what happens on a connection."""

    def connection_opened(self, connection: ServerConnection) -> None:
        """Handle the end of the handshake."""

    def message_received(self, payload: bytes) -> None:
        """Handle a message."""

    def connection_ended(self) -> None:
        """Handle the end, also that of an attempt to connect."""


ConnectServer = Callable[[Path, ServerListener], Callable[[], None]]
"""Connects to a socket, and returns a function that ends the attempt or the connection."""


class _ServerProtocol(WebSocketClientProtocol):
    transport: Any

    def __init__(self, listener: ServerListener) -> None:
        super().__init__()
        self._listener = listener

    def send_message(self, payload: bytes) -> None:
        self.sendMessage(payload, isBinary=False)

    def abort_connection(self) -> None:
        self.transport.abortConnection()

    def connectionMade(self) -> None:
        super().connectionMade()
        self.transport.bufferSize = UNSENT_BYTES
        self.transport.registerProducer(self, True)

    def pauseProducing(self) -> None:
        self.abort_connection()

    def resumeProducing(self) -> None:
        """Do nothing, because a full buffer ends the connection."""

    def stopProducing(self) -> None:
        """Do nothing, because this protocol produces no data."""

    def onOpen(self) -> None:
        self._listener.connection_opened(self)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        self._listener.message_received(payload)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        super().connectionLost(Failure(ConnectionLost()))
        self._listener.connection_ended()

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        """Do nothing, because L{connectionLost} reports the end."""


def make_connector(reactor: Any) -> ConnectServer:
    """Return the function that connects to servers."""

    def connect_server(path: Path, listener: ServerListener) -> Callable[[], None]:
        factory: Any = WebSocketClientFactory("ws://localhost/", reactor=reactor)
        factory.noisy = False
        factory.setProtocolOptions(
            version=13,
            maxMessagePayloadSize=MESSAGE_BYTES,
            maxFramePayloadSize=MESSAGE_BYTES,
            failByDrop=True,
            # These timers would run on the global reactor. A server without answer is no harm.
            openHandshakeTimeout=0,
            closeHandshakeTimeout=0,
            serverConnectionDropTimeout=0,
        )
        made: list[_ServerProtocol] = []

        def build_protocol(address: object) -> _ServerProtocol:
            protocol = _ServerProtocol(listener)
            protocol.factory = factory
            made.append(protocol)
            return protocol

        factory.buildProtocol = build_protocol
        endpoint = UNIXClientEndpoint(reactor, str(path), timeout=CONNECT_SECONDS)
        attempt: Deferred[Any] = endpoint.connect(factory)
        attempt.addErrback(lambda _: listener.connection_ended())

        def end_connection() -> None:
            if made and made[0].transport is not None:
                made[0].abort_connection()
            else:
                attempt.cancel()

        return end_connection

    return connect_server
