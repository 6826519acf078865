"""WebSocket connection: sending with back-pressure, liveness, closing.

Autobahn parses incoming data and performs the handshakes.  Outgoing data is written here, without
Autobahn's logging and per-socket compression: each frame is one C{transport.write}.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from autobahn.twisted.websocket import WebSocketServerFactory, WebSocketServerProtocol
from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from twisted.internet.interfaces import IDelayedCall, IPushProducer, IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.kernel.timers import cancel_call
from tservice.core.net.immediate_write import write_immediately
from tservice.http.connections.fair_scheduler import CONNECTION_SHARE, FairScheduler
from tservice.http.validation.body_limits import ANY_MESSAGE, TOO_BIG, SocketLimits
from tservice.http.validation.body_limits import MAX_MESSAGE as MAX_MESSAGE
from tservice.http.websockets.close_finder import CloseFrameFinder
from tservice.http.websockets.frames import SocketMessage
from tservice.http.websockets.interface import (
    ABNORMAL,
    INTERNAL,
    NO_CODE,
    ISocket,
    ISocketHandler,
    SocketTraffic,
)

PING_SECONDS = 30
PONG_SECONDS = 10
"""Interval of pings in seconds.

The socket is dropped if nothing is received for that time after a ping (protocol-websocket).
"""

CLOSE_SECONDS = 5
"""Time limit in seconds for the peer's answer to a close frame."""

LINGER_BYTES = 16 * 1024 * 1024
"""Limit on the bytes that the peer may send after the service's close frame; they are discarded.

A connection that is closed with unread bytes is reset, and the peer may lose the close frame that
is on its way.
"""

MAX_BUFFERED = 16 * 1024 * 1024
"""Number of unsent bytes at which the socket is aborted, because its handler ignores back-pressure.

One message may be longer than this; only the bytes queued before it count.
"""

TRANSPORT_BUFFER = 65536
"""Buffered bytes at which Twisted's transports report back-pressure."""

MAX_PARTS = 1024
"""Limit on the fragments of a client's message."""


STEP_BYTES = 2048
"""Number of decompressed bytes that cost as much time as a small frame."""


@implementer(ISocket, IPushProducer)
class ServerSocket(WebSocketServerProtocol):
    """Autobahn protocol that passes messages to a handler.

    @ivar extra_headers: headers of the handshake response.
    """

    _tell = Logger()
    factory: Any
    transport: Any
    wasClean: bool
    closedByMe: bool
    localCloseCode: Any
    remoteCloseCode: int | None
    extra_headers: Mapping[str, Sequence[str]] = {}

    def __init__(
        self,
        handler: ISocketHandler,
        clock: IReactorTime,
        gone: Callable[[ServerSocket], None],
        traffic: SocketTraffic,
        turns: FairScheduler,
        bounds: SocketLimits = ANY_MESSAGE,
    ) -> None:
        """@param gone: called with this socket when it has ended.
        @param turns: scheduler that is shared by all sockets whose bytes wait.
        @param bounds: limits on the client's messages.
        """
        super().__init__()
        self._turns = turns
        self._bounds = bounds
        self._held = False
        self._size = 0
        self._handler, self._clock, self._gone = handler, clock, gone
        self._traffic = traffic
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._unsent = 0
        self._writing = 0
        self._full = False
        self._heard = True
        self._deflate = False
        self._parts = 0
        self._cost = 0
        self._waits = False
        self._farewell: CloseFrameFinder | None = None
        self._timer: IDelayedCall | None = None

    # Called by the handler

    @property
    def writable(self) -> bool:
        return bool(self.state == self.STATE_OPEN)

    @property
    def buffered(self) -> int:
        return self._unsent + self._queued

    def send(self, message: SocketMessage) -> None:
        if self.state != self.STATE_OPEN:
            return
        if self._full and self.buffered > MAX_BUFFERED:
            self._abort_with_reason("its handler ignored back-pressure while the peer did not read")
            return
        data = message.encode_message(self._deflate)
        self._traffic.sent += len(data)
        self._write_data(data, at_once=message.binary)

    def send_text(self, text: str) -> None:
        self.send(SocketMessage(text))

    def send_binary(self, data: bytes) -> None:
        self.send(SocketMessage(data))

    def pause_reading(self) -> None:
        if self.state == self.STATE_OPEN and not self._held:
            self._held = True
            self.transport.pauseProducing()

    def resume_reading(self) -> None:
        if self._held:
            self._held = False
            self._resume_reading_if_allowed()

    def _resume_reading_if_allowed(self) -> None:
        if not self._held and not self._waits:
            self.transport.resumeProducing()

    def close(self, code: int = 1000, reason: str = "") -> None:
        if self.state != self.STATE_OPEN:
            return
        while self._queue:
            self.transport.write(self._queue.popleft())
        self._queued = 0
        self.sendCloseFrame(code, reason.encode()[:123].decode(errors="ignore").encode())

    def _write_data(self, data: bytes, *, at_once: bool = False) -> None:
        if self._full:
            self._queue.append(data)
            self._queued += len(data)
            return
        self._writing = len(data)
        if at_once:
            write_immediately(self.transport, self.transport, data)
        else:
            # The acknowledgement of a key press: its echo often follows and is sent with it.
            self.transport.write(data)

    # Called by the transport

    def pauseProducing(self) -> None:
        self._full = True
        self._unsent = self._writing + TRANSPORT_BUFFER
        self._call_handler(self._handler.sending_paused)

    def resumeProducing(self) -> None:
        self._full, self._unsent, self._heard = False, 0, True
        while self._queue and not self._full:
            data = self._queue.popleft()
            self._queued -= len(data)
            self._write_data(data)
        if not self._full:
            self._call_handler(self._handler.sending_resumed)

    def stopProducing(self) -> None:
        self._queue.clear()
        self._queued = 0

    def dataReceived(self, data: bytes) -> None:
        self._heard = True
        self._traffic.received += len(data)
        # TLS delivers data after the end, which the base class would keep.
        if self.state != self.STATE_CLOSED:
            # Same as the base class, without formatting the arguments of an unused log line.
            self._dataReceived(data)

    def consumeData(self) -> None:
        # Same as the base class, but yields to other connections.
        if self.state == self.STATE_CONNECTING:
            super().consumeData()
            return
        if self._waits:
            return
        if self.state == self.STATE_CLOSING or self._turns.has_budget_left():
            self.process_share()
        else:
            self._queue_share()

    def process_share(self) -> None:
        """Process a share of the received bytes; the transport is paused for the rest."""
        waited, self._waits = self._waits, False
        more = self._process_within_budget()
        if self.state == self.STATE_CLOSING:
            self._wait_for_close()
        elif more:
            self._queue_share(again=True)
        if waited and self.state != self.STATE_CLOSED:
            self._resume_reading_if_allowed()

    def abort_connection(self) -> None:
        """Abort the connection."""
        self.transport.abortConnection()

    def _queue_share(self, *, again: bool = False) -> None:
        self._waits = True
        self._turns.queue_connection(self, again=again)
        self.transport.pauseProducing()

    def _process_within_budget(self) -> bool:
        """Process a share of the received bytes; return whether there is more."""
        spent = 0
        while spent < CONNECTION_SHARE and self.state == self.STATE_OPEN:
            self._cost = 1
            more = self.processData()
            self._turns.charge_budget(self._cost)
            spent += self._cost
            if not more:
                return False
        return self.writable

    def _wait_for_close(self) -> None:
        """Wait for the peer's close frame; discard everything else at low cost.

        The base class would parse all of it, and keep the data that follows some protocol errors.
        """
        data, self.data = self.data, b""
        if self._farewell is None:
            frame = self.current_frame
            rest = 0 if frame is None else frame.length - self.current_frame_masker.pointer()
            self._farewell = CloseFrameFinder(rest)
        if self._farewell.finds_close(data):
            self.wasClean = True
            self.dropConnection()
        elif self._farewell.size > LINGER_BYTES:
            self._abort_with_reason("it continued to send after the close")

    # Called by Autobahn

    def connectionMade(self) -> None:
        super().connectionMade()
        if not self._bounds.compressed:
            self.perMessageCompressionAccept = _accept_no_compression

    def onConnect(self, request: Any) -> Any:
        # A browser that asked for a subprotocol disconnects if the response names none.
        return next(iter(request.protocols), None), self.extra_headers

    def onOpen(self) -> None:
        self._deflate = self._perMessageCompress is not None
        self.transport.registerProducer(self, True)
        self._timer = self._clock.callLater(PING_SECONDS, self._send_liveness_ping)
        self._call_handler(self._handler.socket_opened, self)

    def onMessageBegin(self, isBinary: bool) -> None:
        super().onMessageBegin(isBinary)
        self._parts = self._size = 0

    def onMessageFrameBegin(self, length: int) -> None:
        self._parts += 1
        if self._parts == MAX_PARTS + 1:
            # Fragments are kept until the last one, and empty ones add no bytes.
            self._fail_connection(TOO_BIG, f"a message of more than {MAX_PARTS} fragments")
        self._size += length
        if self._size > self._bounds.message:
            most = f"a message of more than {self._bounds.message} bytes"
            self._fail_connection(self._bounds.too_big, most)
        super().onMessageFrameBegin(length)

    def onMessageFrameData(self, payload: bytes) -> None:
        self._cost += len(payload) // STEP_BYTES
        super().onMessageFrameData(payload)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        if self.state != self.STATE_OPEN:
            return
        self._cost += len(payload) // STEP_BYTES
        if isBinary:
            self._call_handler(self._handler.binary_received, payload)
        else:
            self._call_handler(self._handler.text_received, payload.decode())

    def _fail_connection(self, *args: Any, **kwargs: Any) -> None:
        # The base class reports some faults twice, and drops the connection at the second: the
        # close frame could be lost.
        if self.state == self.STATE_OPEN:
            super()._fail_connection(*args, **kwargs)

    def sendCloseFrame(self, *args: Any, **kwargs: Any) -> None:
        # Every close uses this method, including Autobahn's for invalid frames.
        if self.state == self.STATE_OPEN:
            self._set_timer(CLOSE_SECONDS, self._abort_with_reason, "it did not answer the close")
            self.resume_reading()
        super().sendCloseFrame(*args, **kwargs)

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        """Handle the end of the connection."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        super().connectionLost(reason)
        cancel_call(self._timer)
        self._turns.remove_connection(self)
        self.stopProducing()
        code = self._find_end_code()
        self._gone(self)
        try:
            self._handler.socket_closed(code)
        except Exception:
            self._tell.failure("a socket's handler failed while closing")

    def _find_end_code(self) -> int:
        if self.closedByMe and self.localCloseCode is not None:
            return int(self.localCloseCode)
        if not self.wasClean:
            return ABNORMAL
        return NO_CODE if self.remoteCloseCode is None else self.remoteCloseCode

    # Liveness

    def _set_timer(self, seconds: float, then: Callable[..., object], *args: object) -> None:
        cancel_call(self._timer)
        self._timer = self._clock.callLater(seconds, then, *args)

    def _send_liveness_ping(self) -> None:
        self._heard = False
        self.sendPing()
        self._set_timer(PONG_SECONDS, self._abort_if_unresponsive)

    def _abort_if_unresponsive(self) -> None:
        # Any received data is a sign of life, and so is a full buffer that was sent: on a slow
        # link the pong is queued after it.  A socket that is not read cannot be checked.
        if self._heard or self._held:
            self._set_timer(PING_SECONDS - PONG_SECONDS, self._send_liveness_ping)
        else:
            self._abort_with_reason("it did not answer the ping")

    def _abort_with_reason(self, why: str) -> None:
        self._tell.debug("aborting a WebSocket: {why}", why=why)
        self.stopProducing()
        self.wasNotCleanReason = why
        if self.state == self.STATE_CLOSED:
            # A clean close waits for the peer to read everything, which may never happen.
            self.transport.abortConnection()
        else:
            self.dropConnection(abort=True)

    def _call_handler(self, call: Callable[..., object], *args: object) -> None:
        try:
            call(*args)
        except Exception:
            self._tell.failure("a socket's handler failed")
            self.close(INTERNAL, "internal error")


def _accept_no_compression(offers: object) -> None:
    """Return C{None} to decline every compression offer."""


def _accept_offer(offers: Iterable[object]) -> PerMessageDeflateOfferAccept | None:
    """Accept the first permessage-deflate offer whose window is large enough for the shared
    frames.
    """
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer) and offer.request_max_window_bits in (0, 15):
            return PerMessageDeflateOfferAccept(
                offer, request_no_context_takeover=offer.accept_no_context_takeover
            )
    return None


def make_factory(clock: IReactorTime) -> Any:
    """Return Autobahn's factory with the options of all sockets."""
    factory: Any = WebSocketServerFactory(reactor=clock, server="")
    factory.setProtocolOptions(
        versions=[13],
        webStatus=False,
        maxMessagePayloadSize=MAX_MESSAGE,
        maxFramePayloadSize=MAX_MESSAGE,
        failByDrop=False,
        # These timers would run on the global reactor; Socket uses its own timers.
        openHandshakeTimeout=0,
        closeHandshakeTimeout=0,
        perMessageCompressionAccept=_accept_offer,
    )
    return factory
