"""One WebSocket: sending with back-pressure, liveness, closing.

Autobahn parses what comes in and speaks the handshakes.  What goes out is written here, past
its logging and per-socket compression: a frame is then one C{transport.write}.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define
from autobahn.twisted.websocket import WebSocketServerProtocol
from twisted.internet.interfaces import IDelayedCall, IPushProducer, IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import Attribute, Interface, implementer

from tservice.core.net.atonce import write_at_once
from tservice.core.timers import cancel
from tservice.http.bounds import ANY_MESSAGE, TOO_BIG, SocketBounds
from tservice.http.bounds import MAX_MESSAGE as MAX_MESSAGE
from tservice.http.connections.turns import SHARE, Turns
from tservice.http.websockets.farewell import Farewell
from tservice.http.websockets.frames import SocketMessage

PING_SECONDS = 30
PONG_SECONDS = 10
"""A ping this often; dropped when nothing was heard for so long after it (protocol-websocket)."""

CLOSE_SECONDS = 5
"""How long the peer may take to answer a close."""

LINGER_BYTES = 16 * 1024 * 1024
"""What it may send on meanwhile: it is thrown away, for a connection that ends with bytes unread is
reset, and the peer may lose the close that is on its way to it."""

MAX_BUFFERED = 16 * 1024 * 1024
"""Unsent bytes at which the socket is cut: its handler ignores back-pressure.

One message may be longer than this; it is what waits before it that counts.
"""

TRANSPORT_BUFFER = 65536
"""What Twisted's transports hold before they say so."""

GOING_AWAY, UNSUPPORTED, ABNORMAL, NO_CODE, INTERNAL = 1001, 1003, 1006, 1005, 1011


class ISocket(Interface):
    """What a handler can do with its socket.  All of it is a no-op once it is closed."""

    buffered: int = Attribute(
        "bytes not yet handed to the system: 0 while the peer reads, else true within 64 KiB"
    )
    writable: bool = Attribute("whether something sent now could arrive")

    def send(message: SocketMessage) -> None:
        """Send a message that other sockets may get too."""

    def send_text(text: str) -> None:
        """Send a text message."""

    def send_binary(data: bytes) -> None:
        """Send a binary message."""

    def hold() -> None:
        """Read no more from the peer until L{release}; what was read already still comes."""

    def release() -> None:
        """Read on."""

    def close(code: int = 1000, reason: str = "") -> None:
        """Send what waits, then close."""


class ISocketHandler(Interface):
    """What an operation of C{Style.WEBSOCKET} returns; one for each socket.

    An exception from any of these is logged and closes the socket with 1011.
    """

    def opened(socket: ISocket) -> None:
        """The socket is there."""

    def text(data: str) -> None:
        """A text message came in."""

    def binary(data: bytes) -> None:
        """A binary message came in."""

    def paused() -> None:
        """The peer reads slower than it is sent to: hold back until L{resumed}."""

    def resumed() -> None:
        """Everything was handed to the system; send on."""

    def closed(code: int) -> None:
        """The socket is gone; called once, and last.

        @param code: the close code, 1005 for none, 1006 for a lost connection.
        """


MAX_PARTS = 1024
"""Fragments of a message from a client."""


STEP_BYTES = 2048
"""Of what a frame holds once it is unpacked, and of a whole message, that cost as much as a small
frame."""


@define
class Traffic:
    """Bytes of all sockets, on the wire: compressed, with their frames' heads.

    @ivar sent: handed to the transport or waiting for it.
    """

    sent: int = 0
    received: int = 0


@implementer(ISocket, IPushProducer)
class Socket(WebSocketServerProtocol):
    """An Autobahn protocol that belongs to a handler.

    @ivar extra_headers: sent with the answer to the handshake.
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
        gone: Callable[[Socket], None],
        traffic: Traffic,
        turns: Turns,
        bounds: SocketBounds = ANY_MESSAGE,
    ) -> None:
        """
        @param turns: whose bytes are taken in next, of all sockets'.
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
        self._farewell: Farewell | None = None
        self._timer: IDelayedCall | None = None

    # What the handler calls

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
            self._cut("its handler sent on while it did not read")
            return
        data = message.wire(self._deflate)
        self._traffic.sent += len(data)
        self._write(data, at_once=message.binary)

    def send_text(self, text: str) -> None:
        self.send(SocketMessage(text))

    def send_binary(self, data: bytes) -> None:
        self.send(SocketMessage(data))

    def hold(self) -> None:
        if self.state == self.STATE_OPEN and not self._held:
            self._held = True
            self.transport.pauseProducing()

    def release(self) -> None:
        if self._held:
            self._held = False
            self._read_on()

    def _read_on(self) -> None:
        if not self._held and not self._waits:
            self.transport.resumeProducing()

    def close(self, code: int = 1000, reason: str = "") -> None:
        if self.state != self.STATE_OPEN:
            return
        while self._queue:
            self.transport.write(self._queue.popleft())
        self._queued = 0
        self.sendCloseFrame(code, reason.encode()[:123].decode(errors="ignore").encode())

    def _write(self, data: bytes, *, at_once: bool = False) -> None:
        if self._full:
            self._queue.append(data)
            self._queued += len(data)
            return
        self._writing = len(data)
        if at_once:
            write_at_once(self.transport, self.transport, data)
        else:
            # The acknowledgement of a key: often its echo is next, and takes it along.
            self.transport.write(data)

    # What the transport calls

    def pauseProducing(self) -> None:
        self._full = True
        self._unsent = self._writing + TRANSPORT_BUFFER
        self._safely(self._handler.paused)

    def resumeProducing(self) -> None:
        self._full, self._unsent, self._heard = False, 0, True
        while self._queue and not self._full:
            data = self._queue.popleft()
            self._queued -= len(data)
            self._write(data)
        if not self._full:
            self._safely(self._handler.resumed)

    def stopProducing(self) -> None:
        self._queue.clear()
        self._queued = 0

    def dataReceived(self, data: bytes) -> None:
        self._heard = True
        self._traffic.received += len(data)
        # TLS brings more after the end: the base class would keep it.
        if self.state != self.STATE_CLOSED:
            # As the base class, less the arguments of a log line that nobody reads.
            self._dataReceived(data)

    def consumeData(self) -> None:
        # As the base class, less what others would have to wait for.
        if self.state == self.STATE_CONNECTING:
            super().consumeData()
            return
        if self._waits:
            return
        if self.state == self.STATE_CLOSING or self._turns.has_room():
            self.take()
        else:
            self._wait()

    def take(self) -> None:
        """Take in a share of what came; the transport waits for the rest."""
        waited, self._waits = self._waits, False
        more = self._take_share()
        if self.state == self.STATE_CLOSING:
            self._hear_out()
        elif more:
            self._wait(again=True)
        if waited and self.state != self.STATE_CLOSED:
            self._read_on()

    def drop(self) -> None:
        """Cut the connection."""
        self.transport.abortConnection()

    def _wait(self, *, again: bool = False) -> None:
        self._waits = True
        self._turns.wait(self, again=again)
        self.transport.pauseProducing()

    def _take_share(self) -> bool:
        """Whether there is more."""
        spent = 0
        while spent < SHARE and self.state == self.STATE_OPEN:
            self._cost = 1
            more = self.processData()
            self._turns.spend(self._cost)
            spent += self._cost
            if not more:
                return False
        return self.writable

    def _hear_out(self) -> None:
        """Have the peer answer our close; whatever else it sends is of no use, and may cost little.

        The base class would parse all of it, and keep what stands behind some faults.
        """
        data, self.data = self.data, b""
        if self._farewell is None:
            frame = self.current_frame
            rest = 0 if frame is None else frame.length - self.current_frame_masker.pointer()
            self._farewell = Farewell(rest)
        if self._farewell.finds_close(data):
            self.wasClean = True
            self.dropConnection()
        elif self._farewell.size > LINGER_BYTES:
            self._cut("it sent on after the close")

    # What Autobahn calls

    def connectionMade(self) -> None:
        super().connectionMade()
        if not self._bounds.compressed:
            self.perMessageCompressionAccept = _never

    def onConnect(self, request: Any) -> Any:
        # A browser that asked for a subprotocol hangs up when none is named.
        return next(iter(request.protocols), None), self.extra_headers

    def onOpen(self) -> None:
        self._deflate = self._perMessageCompress is not None
        self.transport.registerProducer(self, True)
        self._timer = self._clock.callLater(PING_SECONDS, self._ping)
        self._safely(self._handler.opened, self)

    def onMessageBegin(self, isBinary: bool) -> None:
        super().onMessageBegin(isBinary)
        self._parts = self._size = 0

    def onMessageFrameBegin(self, length: int) -> None:
        self._parts += 1
        if self._parts == MAX_PARTS + 1:
            # Parts are kept until the last one, and empty ones add no bytes.
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
            self._safely(self._handler.binary, payload)
        else:
            self._safely(self._handler.text, payload.decode())

    def _fail_connection(self, *args: Any, **kwargs: Any) -> None:
        # The base class finds some faults twice, and drops the connection at the second: our close
        # could be lost on its way.
        if self.state == self.STATE_OPEN:
            super()._fail_connection(*args, **kwargs)

    def sendCloseFrame(self, *args: Any, **kwargs: Any) -> None:
        # Every close passes here, Autobahn's own for broken frames included.
        if self.state == self.STATE_OPEN:
            self._rest(CLOSE_SECONDS, self._cut, "it did not answer the close")
            self.release()
        super().sendCloseFrame(*args, **kwargs)

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        """The connection is over."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        super().connectionLost(reason)
        cancel(self._timer)
        self._turns.leave(self)
        self.stopProducing()
        code = self._how_it_ended()
        self._gone(self)
        try:
            self._handler.closed(code)
        except Exception:
            self._tell.failure("a socket's handler failed while closing")

    def _how_it_ended(self) -> int:
        if self.closedByMe and self.localCloseCode is not None:
            return int(self.localCloseCode)
        if not self.wasClean:
            return ABNORMAL
        return NO_CODE if self.remoteCloseCode is None else self.remoteCloseCode

    # Liveness

    def _rest(self, seconds: float, then: Callable[..., object], *args: object) -> None:
        cancel(self._timer)
        self._timer = self._clock.callLater(seconds, then, *args)

    def _ping(self) -> None:
        self._heard = False
        self.sendPing()
        self._rest(PONG_SECONDS, self._judge)

    def _judge(self) -> None:
        # Anything heard is a sign of life, and so is a full buffer that went out: a pong
        # stands in line behind it on a slow link.  Who is not read cannot be heard.
        if self._heard or self._held:
            self._rest(PING_SECONDS - PONG_SECONDS, self._ping)
        else:
            self._cut("it did not answer the ping")

    def _cut(self, why: str) -> None:
        self._tell.debug("cutting a socket: {why}", why=why)
        self.stopProducing()
        self.wasNotCleanReason = why
        if self.state == self.STATE_CLOSED:
            # It closes once all is taken: of a peer that reads nothing, never.
            self.transport.abortConnection()
        else:
            self.dropConnection(abort=True)

    def _safely(self, call: Callable[..., object], *args: object) -> None:
        try:
            call(*args)
        except Exception:
            self._tell.failure("a socket's handler failed")
            self.close(INTERNAL, "internal error")


def _never(offers: object) -> None:
    """Take no compression."""
