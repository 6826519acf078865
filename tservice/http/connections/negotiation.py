"""Client connection: HTTP/2 if the TLS handshake chose it, HTTP/1.1 otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from h2.errors import ErrorCodes
from h2.events import DataReceived, PriorityUpdated, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError
from hpack import Decoder, Encoder, HeaderTuple, HPACKDecodingError
from priority import PriorityTree
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web._http2 import H2Connection

from tservice.http.connections.channel import Http1Channel
from tservice.http.connections.fair_scheduler import CONNECTION_SHARE, FairScheduler
from tservice.http.connections.frame_limits import (
    HEADER_LIST_BYTES,
    SETTINGS,
    FrameGuard,
    FrameLimitExceeded,
)
from tservice.http.connections.interfaces import ConnectionServer

RESETS = 200
"""Burst of requests that a client may reset; beyond that L{BoundedH2Connection} allows 33 a second.
"""

TABLE_BYTES = 4096
"""Size of the table that compresses response headers, regardless of what the client allows, because
each header field is looked up in the whole table.
"""

RESIZES = 8
"""Limit on resizes of the request header table in one header block; a client may need two (RFC
7541, section 4.2), and each takes one byte.
"""

WHY = 200
"""Length to which the logged reason for a disconnect is cut, because it contains text from the
client.
"""
HEAD, FIELDS = 15, 6
"""Cost of a request's headers in small frames, and the number of fields that cost a further one:
they may expand to 16 KiB, and a hundred requests fit into one read."""
FAREWELL_SECONDS = 1.0
"""Seconds that a client gets to read the reason before the connection is aborted after a violation.
"""


class _SendSchedule(PriorityTree):  # type: ignore[misc]
    """Schedule of the streams that may send.

    Without a check of the windows, a stream that waits for its window would be polled repeatedly.
    """

    def __init__(self, may_send: Callable[[int], bool]) -> None:
        super().__init__()
        self._may_send = may_send

    def __next__(self) -> int:
        while True:
            stream: int = super().__next__()
            if self._may_send(stream):
                return stream
            self.block(stream)


class _BoundedEncoder(Encoder):
    """Header encoder whose table the client cannot enlarge."""

    @property
    def header_table_size(self) -> int:
        return self.header_table.maxsize

    @header_table_size.setter
    def header_table_size(self, value: int) -> None:
        self.header_table.maxsize = min(value, TABLE_BYTES)
        if self.header_table.resized:
            told = [*self.table_size_changes, self.header_table.maxsize]
            # The client must learn the smallest and the last size (RFC 7541, section 4.2).
            self.table_size_changes = [min(told), told[-1]] if min(told) < told[-1] else told[-1:]


class _BoundedDecoder(Decoder):
    """Header decoder that limits the resizes of its table."""

    _resizes = 0

    def decode(self, data: bytes, raw: bool = False) -> Iterable[HeaderTuple]:
        self._resizes = 0
        return super().decode(data, raw)

    def _update_encoding_context(self, data: bytes | memoryview) -> int:
        self._resizes += 1
        if self._resizes > RESIZES:
            raise HPACKDecodingError("too many resizes of the header table")
        return super()._update_encoding_context(data)


class BoundedH2Connection(H2Connection):
    """HTTP/2 connection with limits, whose idle time-out does not apply while a response is in
    progress.

    twisted.web would end it after a period of silence, even during a long poll.  A stream whose
    request is still arriving does not keep the connection open, nor does a response that the client
    does not read.  A client that violates the protocol or exceeds a limit gets the reason and is
    disconnected.

    @ivar owner: the account of the last request; C{None} for an unknown caller.
    """

    transport: Any
    owner: str | None = None
    _resetTokenBurst = RESETS
    _over: IDelayedCall | None = None

    def __init__(self, reactor: Any, turns: FairScheduler) -> None:
        super().__init__(reactor)
        self._turns = turns
        self.conn.encoder = _BoundedEncoder()
        self.conn.decoder = _BoundedDecoder()
        self.conn.decoder.max_header_list_size = HEADER_LIST_BYTES
        self.priority = _SendSchedule(self._may_send)
        self._guard = FrameGuard(reactor.seconds)
        self._pieces: Iterator[bytes] = iter(())
        self._waits = False
        self._fields = 0

    @property
    def is_responding(self) -> bool:
        """True if a response is in progress."""
        requests = [stream._request for stream in self.streams.values()]
        return any(request.is_complete and not request.finished for request in requests)

    @property
    def received_bytes(self) -> int:
        """Number of buffered bytes of requests that are still arriving."""
        return sum(stream._request.held_bytes for stream in self.streams.values())

    def timeoutConnection(self) -> None:
        if self.is_responding:
            self.setTimeout(self.timeOut)
        else:
            super().timeoutConnection()

    def dataReceived(self, data: bytes) -> None:
        if self._is_over():
            return
        self._pieces = chain(self._pieces, self._guard.split_frames(data))
        if self._waits:
            return
        if self._turns.has_room():
            self.process_share()
        else:
            self._queue_share()

    def process_share(self) -> None:
        """Process a share of the received bytes; the transport is paused for the rest."""
        waited, self._waits = self._waits, False
        try:
            done = self._process_share()
        except FrameLimitExceeded as error:
            self.conn.close_connection(ErrorCodes.ENHANCE_YOUR_CALM)
            self._terminate(Failure(error))
            return
        if self._is_over():
            return
        self._resume_streams()
        if not done:
            self._queue_share(again=True)
        elif waited:
            self.transport.resumeProducing()

    def abort_connection(self) -> None:
        """Abort the connection."""
        self.transport.abortConnection()

    def _queue_share(self, *, again: bool = False) -> None:
        self._waits = True
        self._turns.queue_connection(self, again=again)
        self.transport.pauseProducing()

    def _process_share(self) -> bool:
        """Process a share of the received bytes, frame by frame; return true when all are
        processed.

        The base class treats a request that is cancelled in the same bytes as open, and fails when
        a response is written.
        """
        spent, requests = 0, self._guard.requests
        for piece in self._pieces:
            self._fields = 0
            super().dataReceived(piece)
            if self._is_over():
                return True
            if len(self.conn.remote_settings) > SETTINGS:
                raise FrameLimitExceeded("too many settings")
            begun, requests = self._guard.requests - requests, self._guard.requests
            cost = 1 + HEAD * begun + self._fields // FIELDS
            self._turns.charge_budget(cost)
            spent += cost
            if spent >= CONNECTION_SHARE:
                return False
        self._pieces = iter(())
        return True

    def _is_over(self) -> bool:
        return self._over is not None

    def _terminate(self, reason: Failure) -> None:
        # Same as the base class, but the end does not wait for the client.
        if self._is_over():
            return
        self._log.info(
            "aborting an HTTP/2 connection of {client}: {why}",
            client=getattr(self.transport.getPeer(), "host", "unix"),
            why=f"{getattr(reason.type, '__name__', '')}: {reason.getErrorMessage()[:WHY]}",
        )
        self._over = self._reactor.callLater(FAREWELL_SECONDS, self.transport.abortConnection)
        self.transport.pauseProducing()
        if self._tryToWriteControlData():
            self.connectionLost(reason, _cancelTimeouts=False)

    def connectionLost(
        self, reason: Failure = connectionDone, _cancelTimeouts: bool = True
    ) -> None:
        self._turns.remove_connection(self)
        self._pieces = iter(())
        super().connectionLost(reason, _cancelTimeouts)
        if _cancelTimeouts and self._over is not None and self._over.active():
            self._over.cancel()

    def _requestReceived(self, event: RequestReceived) -> None:
        self._fields = len(event.headers)
        if all(name != b":path" for name, _ in event.headers):
            # CONNECT (RFC 9113, section 8.5): this server is not a proxy.
            self.conn.close_connection(ErrorCodes.PROTOCOL_ERROR)
            self._terminate(Failure(ProtocolError("a request with no path")))
            return
        super()._requestReceived(event)
        self.streams[event.stream_id]._request.hold_head(_header_memory(event.headers))

    # The base class would fail for valid frames of a stream that has ended.

    def _requestDataReceived(self, event: DataReceived) -> None:
        if event.stream_id in self.streams:
            super()._requestDataReceived(event)

    def _requestEnded(self, event: StreamEnded) -> None:
        if event.stream_id in self.streams:
            super()._requestEnded(event)

    def _requestAborted(self, event: StreamReset) -> None:
        if event.stream_id in self.streams:
            super()._requestAborted(event)

    def _handlePriorityUpdate(self, event: PriorityUpdated) -> None:
        """Ignore priorities, which are obsolete (RFC 9113, section 5.3.2)."""

    # Data that waits for a window

    def _may_send(self, stream: int) -> bool:
        queue = self._outboundStreamQueues[stream]
        return bool(queue) and (
            not isinstance(queue[0], bytes) or self.conn.local_flow_control_window(stream) > 0
        )

    def _resume_streams(self) -> None:
        """Continue sending on streams for which the received frames, settings included, made
        room.
        """
        ready = [stream for stream in self._outboundStreamQueues if self._may_send(stream)]
        for stream in ready:
            self.priority.unblock(stream)
        if ready and self._sendingDeferred is not None:
            waiting, self._sendingDeferred = self._sendingDeferred, None
            waiting.callback(None)


def _header_memory(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Return the approximate memory in bytes of decoded headers."""
    return sum(len(name) + len(value) + 200 for name, value in headers)


class NegotiatedConnection(Protocol):
    """Passes a connection on to the protocol that the TLS handshake selects.

    The choice is known when the first bytes arrive; until then an HTTP/1.1 channel holds the
    connection, with its idle time-out.
    """

    transport: Any

    def __init__(self, site: ConnectionServer) -> None:
        self._site = site
        self._channel: Any = self._configure_channel(Http1Channel())
        self._decided = False

    def _configure_channel(self, channel: Any) -> Any:
        """Set the attributes that twisted.web's factories set on their channels."""
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
                self._switch_protocol()
        self._channel.dataReceived(data)

    def _switch_protocol(self) -> None:
        self._channel.setTimeout(None)
        self.transport.unregisterProducer()
        self._channel = self._configure_channel(
            BoundedH2Connection(self._site.reactor, self._site.turns)
        )
        self._channel.makeConnection(self.transport)
        self.transport.registerProducer(self._channel, True)

    @property
    def is_responding(self) -> bool:
        """True if a response, a stream or a WebSocket is in progress."""
        is_responding: bool = self._channel.is_responding
        return is_responding

    @property
    def owner(self) -> str | None:
        """Account that receives its responses; C{None} for unknown callers."""
        owner: str | None = self._channel.owner
        return owner

    @property
    def received_bytes(self) -> int:
        """Number of buffered bytes of requests that are still arriving."""
        size: int = self._channel.received_bytes
        return size

    def drop_connection(self) -> None:
        """Abort the connection."""
        self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._site.connection_ended(self)
        self._channel.connectionLost(reason)
