"""One HTTP/1.1 connection: how long a request may take, and how to refuse one half-way.

twisted.web takes a whole body in before anyone is asked.  Here a L{Request
<tservice.http.request.Request>} may refuse while its body still arrives: the answer leaves at
once, what still comes is thrown away for a moment so that the client can read it, and the
connection ends.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.interfaces import IDelayedCall, IProtocol
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel, _ChunkedTransferDecoder

from tservice.core.net.chunks import Chunks
from tservice.core.timers import cancel
from tservice.http.connections.parts import ConnectionServer, Early, Streamed

HEADER_SECONDS = 20.0
"""From a request's first byte to the end of its headers."""

BODY_RATE = 4096.0
"""Bytes a second that a body must come in at, on average, beyond L{HEADER_SECONDS}."""

LINGER_SECONDS = 5.0
LINGER_BYTES = 16 * 1024 * 1024
"""How long, and how much of, a refused body is read and thrown away."""

BITE_BYTES = 4096
"""Of a chunked body that is taken in at once: all chunks in it are gone through, also where the
first of them were reason enough to refuse the body."""

_REFUSED = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_LONG_TARGET = _REFUSED % b"414 URI Too Long"
TOO_LONG_HEADER = _REFUSED % b"431 Request Header Fields Too Large"
"""Nobody is asked who they are before a head is whole, so nothing else is said."""


class Channel(HTTPChannel):
    """An HTTP/1.1 server connection with bounded patience.

    @ivar site: set by the factory.
    @ivar owner: the account that asks; C{None}: nobody who is known.
    """

    site: ConnectionServer
    owner: str | None = None
    transport: Any
    maxHeaders = 100
    _started: float | None = None
    _arrived = 0
    _spoiled = False
    _draining = False
    _drained = 0
    _linger: IDelayedCall | None = None
    _upgraded: IProtocol | None = None
    _held = False
    _streaming: Streamed | None = None
    _turn: IDelayedCall | None = None

    @property
    def head(self) -> tuple[bytes, bytes, bytes]:
        """Method, target and version of the request whose body is arriving."""
        return self._command, self._path, self._version

    @property
    def answering(self) -> bool:
        """Whether an answer is under way, or the connection is another protocol's now."""
        busy = self._handlingRequest or self._streaming is not None
        return bool(busy) or self._upgraded is not None

    @property
    def arrived(self) -> int:
        """Bytes of the request that is arriving."""
        return 0 if self._draining else self._arrived

    def dataReceived(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.dataReceived(data)
        elif self._spoiled:
            return  # the connection is being closed
        elif self._draining:
            self._throw_away(len(data))
        elif self._in_time(len(data)):
            super().dataReceived(data)
        elif self._abortingCall is None:
            self.timeoutConnection()

    def _in_time(self, size: int) -> bool:
        """Whether the request that is arriving keeps up; the idle time-out sees to silence."""
        if self._handlingRequest:
            return True
        now = self.site.reactor.seconds()
        if self._started is None:
            self._started = now
        self._arrived += size
        in_time: bool = now - self._started <= HEADER_SECONDS + self._arrived / BODY_RATE
        return in_time

    def headerReceived(self, line: bytes) -> bool:
        """Take in one header line.

        twisted.web passes over C{identity}, which is no transfer coding any more (RFC 9112,
        section 7): a proxy in front might read the same request's length in another way.

        @return: whether the request may go on.
        """
        name, _, value = line.partition(b":")
        if name.lower() == b"transfer-encoding" and value.strip(b" \t").lower() != b"chunked":
            refused: bool = self._failChooseTransferDecoder()
            return refused
        taken: bool = super().headerReceived(line)
        return taken

    def _maybeChooseTransferDecoder(self, header: bytes, data: bytes) -> bool:
        chosen: bool = super()._maybeChooseTransferDecoder(header, data)
        if chosen and type(self._transferDecoder) is _ChunkedTransferDecoder:
            self._transferDecoder = Chunks(self._take_chunks, self._finishRequestBody)
        return chosen

    def _take_chunks(self, data: bytes) -> None:
        decoder: Any = self._transferDecoder
        self.requests[-1].handleContentChunk(data, decoder.pieces)

    def _respondToBadRequestAndDisconnect(self) -> None:
        # twisted.web would answer each piece that comes in until the connection is closed.
        if not self._spoiled:
            self._spoiled = True
            super()._respondToBadRequestAndDisconnect()

    def lineLengthExceeded(self, line: bytes) -> None:
        """Refuse a head of which one line is too long; twisted.web would hang up without a word."""
        self._draining = True
        self.setTimeout(None)
        self._linger = self.site.reactor.callLater(LINGER_SECONDS, self.abortConnection)
        self.transport.write(TOO_LONG_HEADER if self.requests else TOO_LONG_TARGET)

    def allContentReceived(self) -> None:
        if self._draining:
            return
        self._started, self._arrived = None, 0
        if self._streaming is not None:
            self._handlingRequest = True
            self.setTimeout(None)
            self._streaming.body_ended()
            return
        super().allContentReceived()

    def rawDataReceived(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.dataReceived(data)
        elif self._held:
            self._dataBuffer.append(data)
        elif self._streaming is not None and self._streaming.thrown:
            self._throw_away(len(data))
        elif not self._draining:
            if len(data) > BITE_BYTES and self._in_chunks():
                # The rest is taken in next, unless this part was reason enough to refuse it.
                self._buffer, data = data[BITE_BYTES:] + self._buffer, data[:BITE_BYTES]
            super().rawDataReceived(data)

    def _in_chunks(self) -> bool:
        return isinstance(self._transferDecoder, Chunks) and not self._handlingRequest

    def requestDone(self, request: Any) -> None:
        """Go on to the next request: if it is here already, in a turn of its own.

        twisted.web answers all that came in at once, also to a client that reads none of it: a
        read of 64 KiB asks for a thousand files.
        """
        unread = self._streaming is not None and not self._handlingRequest
        if unread:
            self._streaming = None
            self._linger_on()
            self.go_on()
        if self.persistent and (self._buffer or self._dataBuffer):
            self.requests.remove(request)
            self._handlingRequest, self._held = False, True
            self.setTimeout(self._savedTimeOut)
            self._networkProducer.pauseProducing()
            self._turn = self.site.reactor.callLater(0, self._take_turn)
            return
        super().requestDone(request)
        if self.persistent and self._waitingForTransport:
            # The transport said so while the request was handled, and nobody paused it.
            self._networkProducer.pauseProducing()

    def _take_turn(self) -> None:
        self._turn = None
        if self._waitingForTransport:
            return
        self._held = False
        waiting, self._dataBuffer = b"".join(self._dataBuffer), []
        self._networkProducer.resumeProducing()
        self.setLineMode(waiting)

    def resumeProducing(self) -> None:
        """The transport takes more again."""
        super().resumeProducing()
        if self._held and self._turn is None:
            self._take_turn()

    def refuse(self, request: Early) -> None:
        """Answer C{request} before its body is here, then end the connection."""
        self.persistent = 0
        self._linger_on()
        request.answer_early(*self.head)

    def _linger_on(self) -> None:
        self._draining = True
        self.setTimeout(None)
        self._linger = self.site.reactor.callLater(LINGER_SECONDS, self.abortConnection)

    def stream(self, request: Streamed) -> None:
        """Have C{request} handled while its body arrives; the connection ends with it."""
        self.persistent = 0
        self._streaming = request
        request.answer_early(*self.head)

    def hold_body(self) -> None:
        """Read nothing more of the body for now."""
        self._networkProducer.pauseProducing()

    def go_on(self) -> None:
        """Read on."""
        self._networkProducer.resumeProducing()

    def _send100Continue(self) -> None:
        if not self._draining:
            super()._send100Continue()

    def loseConnection(self) -> None:
        # A close with unread bytes makes the kernel reset the connection, and the client
        # would lose the answer: so wait for it to hang up, or for the timer.
        if not self._draining:
            super().loseConnection()

    def _throw_away(self, size: int) -> None:
        self._drained += size
        if self._drained > LINGER_BYTES:
            self.abortConnection()

    def abortConnection(self) -> None:
        """Drop the connection, unsent bytes and all."""
        self.transport.abortConnection()

    def timeoutConnection(self) -> None:
        # As the base class, less a log line for every idle browser.
        self._abortingCall = self.callLater(self.abortTimeout, self.forceAbortClient)
        self.loseConnection()

    def upgrade(self, protocol: IProtocol, first: bytes) -> None:
        """Hand the connection over: from now on C{protocol} gets its bytes and its end."""
        waiting = b"".join(self._dataBuffer)
        self._dataBuffer = []
        self.transport.unregisterProducer()
        self._upgraded = protocol
        protocol.makeConnection(self.transport)
        # It was paused if more than a little came in behind the request.
        self._networkProducer.resumeProducing()
        protocol.dataReceived(first + waiting)

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]
        for timer in (self._linger, self._turn):
            cancel(timer)
        super().connectionLost(reason)
        if self._upgraded is not None:
            self._upgraded.connectionLost(reason)
