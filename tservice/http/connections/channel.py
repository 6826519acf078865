"""HTTP/1.1 connection with time limits on requests and early refusal of bodies.

twisted.web reads a whole body before it calls any handler.  Here a L{Request
<tservice.http.request.ServiceRequest>} may refuse while its body is still arriving.  The response
is sent
immediately.  The rest of the body is discarded for a moment, so that the client can read the
response; then the connection ends.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.interfaces import IDelayedCall, IProtocol
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel, _ChunkedTransferDecoder

from tservice.core.kernel.timers import cancel_call
from tservice.core.net.chunked_body import BatchedChunkDecoder
from tservice.http.connections.interfaces import (
    ConnectionServer,
    EarlyResponseRequest,
    StreamedRequest,
)

HEADER_SECONDS = 20.0
"""Time limit from a request's first byte to the end of its headers."""

BODY_RATE = 4096.0
"""Minimum average rate of a body in bytes per second, measured after L{HEADER_SECONDS}."""

LINGER_SECONDS = 5.0
LINGER_BYTES = 16 * 1024 * 1024
"""Limits in seconds and bytes on reading the rest of a refused body, which is discarded."""

BITE_BYTES = 4096
"""Maximum number of bytes of a chunked body that are decoded in one step.

All chunks in one step are processed, even if the first of them exceed a limit.
"""

_REFUSED = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_LONG_TARGET = _REFUSED % b"414 URI Too Long"
TOO_LONG_HEADER = _REFUSED % b"431 Request Header Fields Too Large"
"""Response for overlong headers; it has no envelope, because the caller is not authenticated yet.
"""


class Http1Channel(HTTPChannel):
    """HTTP/1.1 server connection with time limits.

    @ivar site: the server.
    @ivar owner: the account of the caller; C{None} for an unknown caller.
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
    _streaming: StreamedRequest | None = None
    _turn: IDelayedCall | None = None

    def __init__(self, site: ConnectionServer) -> None:
        super().__init__()
        # The attributes that twisted.web's factories set on their channels.
        self.factory = self.site = site
        self.requestFactory = site.requestFactory
        self.timeOut = site.timeOut
        self.callLater = site.reactor.callLater  # type: ignore[method-assign]

    @property
    def request_line(self) -> tuple[bytes, bytes, bytes]:
        """Method, target and version of the request whose body is arriving."""
        return self._command, self._path, self._version

    @property
    def is_responding(self) -> bool:
        """True if a response is in progress, or the connection was upgraded to another protocol."""
        busy = self._handlingRequest or self._streaming is not None
        return bool(busy) or self._upgraded is not None

    @property
    def received_bytes(self) -> int:
        """Number of bytes received of the current request."""
        return 0 if self._draining else self._arrived

    def dataReceived(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.dataReceived(data)
        elif self._spoiled:
            return  # the connection is being closed
        elif self._draining:
            self._discard_bytes(len(data))
        elif self._arrives_fast_enough(len(data)):
            super().dataReceived(data)
        elif self._abortingCall is None:
            self.timeoutConnection()

    def _arrives_fast_enough(self, size: int) -> bool:
        """Return whether the request arrives fast enough.

        A client that sends nothing at all is handled by the idle time-out.
        """
        if self._handlingRequest:
            return True
        now = self.site.reactor.seconds()
        if self._started is None:
            self._started = now
        self._arrived += size
        in_time: bool = now - self._started <= HEADER_SECONDS + self._arrived / BODY_RATE
        return in_time

    def headerReceived(self, line: bytes) -> bool:
        """Process one header line.

        A C{Transfer-Encoding} of C{identity} is refused.  twisted.web accepts it, but it is no
        longer valid (RFC 9112, section 7).  A reverse proxy might compute another length for the
        same request.

        @return: true if the request may continue.
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
            self._transferDecoder = BatchedChunkDecoder(
                self._decode_chunks, self._finishRequestBody
            )
        return chosen

    def _decode_chunks(self, data: bytes) -> None:
        decoder: Any = self._transferDecoder
        self.requests[-1].handleContentChunk(data, decoder.pieces)

    def _respondToBadRequestAndDisconnect(self) -> None:
        # twisted.web would respond to each piece received until the connection is closed.
        if not self._spoiled:
            self._spoiled = True
            super()._respondToBadRequestAndDisconnect()

    def lineLengthExceeded(self, line: bytes) -> None:
        """Refuse a request with an overlong header line; twisted.web would disconnect without a
        response.
        """
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
        elif self._streaming is not None and self._streaming.discards_rest:
            self._discard_bytes(len(data))
        elif not self._draining:
            if len(data) > BITE_BYTES and self._has_chunked_body():
                # The rest is processed next, unless this part was reason enough to refuse it.
                self._buffer, data = data[BITE_BYTES:] + self._buffer, data[:BITE_BYTES]
            super().rawDataReceived(data)

    def _has_chunked_body(self) -> bool:
        return isinstance(self._transferDecoder, BatchedChunkDecoder) and not self._handlingRequest

    def requestDone(self, request: Any) -> None:
        """Continue with the next request, in a new reactor iteration if it has already arrived.

        twisted.web answers all pipelined requests at once, even for a client that reads nothing: a
        read of 64 KiB can request a thousand files.
        """
        unread = self._streaming is not None and not self._handlingRequest
        if unread:
            self._streaming = None
            self._discard_until_close()
            self.resume_body()
        if self.persistent and (self._buffer or self._dataBuffer):
            self.requests.remove(request)
            self._handlingRequest, self._held = False, True
            self.setTimeout(self._savedTimeOut)
            self._networkProducer.pauseProducing()
            self._turn = self.site.reactor.callLater(0, self._serve_next_request)
            return
        super().requestDone(request)
        if self.persistent and self._waitingForTransport:
            # The transport resumed while the request was handled, when it was not paused.
            self._networkProducer.pauseProducing()

    def _serve_next_request(self) -> None:
        self._turn = None
        if self._waitingForTransport:
            return
        self._held = False
        waiting, self._dataBuffer = b"".join(self._dataBuffer), []
        self._networkProducer.resumeProducing()
        self.setLineMode(waiting)

    def resumeProducing(self) -> None:
        """Continue writing, since the transport has room again."""
        super().resumeProducing()
        if self._held and self._turn is None:
            self._serve_next_request()

    def respond_before_body_end(self, request: EarlyResponseRequest) -> None:
        """Respond to C{request} before its body is complete, then end the connection."""
        self.persistent = 0
        self._discard_until_close()
        request.answer_early(*self.request_line)

    def _discard_until_close(self) -> None:
        self._draining = True
        self.setTimeout(None)
        self._linger = self.site.reactor.callLater(LINGER_SECONDS, self.abortConnection)

    def start_streamed_handler(self, request: StreamedRequest) -> None:
        """Start the handler of C{request} while its body is arriving.

        The connection is closed after the response.
        """
        self.persistent = 0
        self._streaming = request
        request.answer_early(*self.request_line)

    def pause_body(self) -> None:
        """Stop reading the body until L{resume_body} is called."""
        self._networkProducer.pauseProducing()

    def resume_body(self) -> None:
        """Continue reading the body after L{pause_body}."""
        self._networkProducer.resumeProducing()

    def _send100Continue(self) -> None:
        if not self._draining:
            super()._send100Continue()

    def loseConnection(self) -> None:
        # A close with unread bytes makes the kernel reset the connection, and the client
        # would lose the response: wait for the client to disconnect, or for the timer.
        if not self._draining:
            super().loseConnection()

    def _discard_bytes(self, size: int) -> None:
        self._drained += size
        if self._drained > LINGER_BYTES:
            self.abortConnection()

    def abortConnection(self) -> None:
        """Abort the connection and discard unsent bytes."""
        self.transport.abortConnection()

    def timeoutConnection(self) -> None:
        # Same as the base class, without a log line for every idle browser.
        self._abortingCall = self.callLater(self.abortTimeout, self.forceAbortClient)
        self.loseConnection()

    def upgrade(self, protocol: IProtocol, first: bytes) -> None:
        """Transfer the connection to C{protocol}, which also handles its end.

        @param first: bytes that were already received after the request.
        """
        waiting = b"".join(self._dataBuffer)
        self._dataBuffer = []
        self.transport.unregisterProducer()
        self._upgraded = protocol
        protocol.makeConnection(self.transport)
        # The transport was paused if much data followed the request.
        self._networkProducer.resumeProducing()
        protocol.dataReceived(first + waiting)

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]
        self.site.connection_ended(self)
        for timer in (self._linger, self._turn):
            cancel_call(timer)
        super().connectionLost(reason)
        if self._upgraded is not None:
            self._upgraded.connectionLost(reason)
