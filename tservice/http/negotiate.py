"""One client connection: HTTP/2 where TLS's handshake chose it, HTTP/1.1 otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web._http2 import H2Connection

from tservice.http.channel import Channel

if TYPE_CHECKING:
    from tservice.http.site import Site


class Patient(H2Connection):
    """An HTTP/2 connection that is idle only while no answer is under way.

    twisted.web would end it after so much silence, with a long poll in the middle.  A stream
    whose request still arrives is no reason to stay.
    """

    @property
    def answering(self) -> bool:
        """Whether an answer is under way."""
        return any(stream._request.handled for stream in self.streams.values())

    @property
    def arrived(self) -> int:
        """Bytes held of bodies that still arrive."""
        return sum(stream._request.held for stream in self.streams.values())

    def timeoutConnection(self) -> None:
        if self.answering:
            self.setTimeout(self.timeOut)
        else:
            super().timeoutConnection()


class Negotiated(Protocol):
    """Passes a connection on to the protocol that it turns out to speak.

    The choice is known when the first bytes arrive; until then an HTTP/1.1 channel holds the
    connection, with its idle time-out.
    """

    transport: Any

    def __init__(self, site: Site) -> None:
        self._site = site
        self._channel: Any = self._settle(Channel())
        self._decided = False

    def _settle(self, channel: Any) -> Any:
        """What the factories of twisted.web set on their channels."""
        channel.factory = channel.site = self._site
        channel.requestFactory = self._site.requestFactory
        channel.timeOut = self._site.timeOut
        channel.callLater = self._site.reactor.callLater
        return channel

    def connectionMade(self) -> None:
        self._channel.makeConnection(self.transport)

    def dataReceived(self, data: bytes) -> None:
        if not self._decided:
            self._decided = True
            if getattr(self.transport, "negotiatedProtocol", None) == b"h2":
                self._switch()
        self._channel.dataReceived(data)

    def _switch(self) -> None:
        self._channel.setTimeout(None)
        self.transport.unregisterProducer()
        self._channel = self._settle(Patient(self._site.reactor))
        self._channel.makeConnection(self.transport)
        self.transport.registerProducer(self._channel, True)

    @property
    def answering(self) -> bool:
        """Whether an answer, a stream or a WebSocket is under way."""
        answering: bool = self._channel.answering
        return answering

    @property
    def arrived(self) -> int:
        """Bytes held of what still arrives."""
        size: int = self._channel.arrived
        return size

    def drop(self) -> None:
        """Cut the connection."""
        self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._site.connection_ended(self)
        self._channel.connectionLost(reason)
