"""Protocol of the connection to a server. This module imports Autobahn, which takes 6 MB."""

from __future__ import annotations

from typing import Any

from autobahn.twisted.websocket import WebSocketClientFactory, WebSocketClientProtocol
from twisted.internet.error import ConnectionLost
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure

from tservice.agents.channels.codex.connection import ServerListener

MESSAGE_BYTES = 1024 * 1024
"""Maximum size of a message; a larger one ends the connection."""
UNSENT_BYTES = 256 * 1024
"""Maximum size of what the server has not taken yet; beyond it the connection ends."""


class ServerProtocol(WebSocketClientProtocol):
    """WebSocket client that passes everything to a listener."""

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


def make_factory(reactor: Any, listener: ServerListener, made: list[ServerProtocol]) -> Any:
    """Return a factory that makes protocols for a listener.

    @param made: the protocols that the factory made are added to this list.
    """
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

    def build_protocol(address: object) -> ServerProtocol:
        protocol = ServerProtocol(listener)
        protocol.factory = factory
        made.append(protocol)
        return protocol

    factory.buildProtocol = build_protocol
    return factory
