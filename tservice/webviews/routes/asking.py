"""The connection that asks a target: Twisted's own, with bounds to what an answer may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web._newclient import BODY, DONE, HTTP11ClientProtocol, Request
from twisted.web.iweb import IResponse

from tservice.core.net.chunks import Chunks
from tservice.http.connections.turns import SHARE, Turns

HEAD_BYTES = 64 * 1024
"""Of an answer before its body, interim answers included (protocol-webtabs)."""
INTERIM = 8
"""Interim answers (1xx), each of which Twisted writes a line of the log about."""

CHUNKS = 32
"""What is read of a body in chunks for the cost of one small frame."""


class Asking(HTTP11ClientProtocol):
    """A client that hangs up on a target whose head has no end, and lets others have their turns
    while an answer comes in very many chunks."""

    def __init__(
        self, turns: Turns, quiescentCallback: Callable[[Any], None] = lambda protocol: None
    ) -> None:
        """@param turns: whose bytes are taken in next."""
        super().__init__(quiescentCallback)
        self._turns = turns
        self._size = self._blank = 0
        self._line = b""
        self._chunks: Chunks | None = None
        self._waits = self._paused = False

    def request(self, request: Request) -> Deferred[IResponse]:
        """As the base class, but what pauses or resumes the connection asks this object."""
        answer = super().request(request)
        parser: Any = self._parser
        parser._transferDecoders = {b"chunked": self._in_chunks}
        parser.transport._producer = self
        return answer

    def _in_chunks(self, took: Any, finished: Any) -> Chunks:
        self._chunks = Chunks(took, finished, CHUNKS * SHARE)
        return self._chunks

    # -- told by the transport

    def dataReceived(self, data: bytes) -> None:
        if self._chunks is not None:
            self._chunks.add(data)
            if not self._waits:
                self._read_on()
            return
        at = 0
        while at < len(data) and self._in_head():
            # Line by line, or a piece of 64 KiB would be answers by the thousand in one turn.
            end = data.find(b"\n", at) + 1 or len(data)
            if not self._takes(data[at:end]):
                self.drop()
                return
            super().dataReceived(data[at:end])
            at = end
        if at < len(data):
            super().dataReceived(data[at:])
            self._account()

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]
        self._turns.leave(self)
        if self._waits:
            while self._read():
                pass
        super().connectionLost(reason)

    # -- told by what reads the answer

    def pauseProducing(self) -> None:
        self._paused = True
        self._transport.pauseProducing()

    def resumeProducing(self) -> None:
        self._paused = False
        if not self._waits:
            self._transport.resumeProducing()

    def stopProducing(self) -> None:
        self._transport.stopProducing()

    def loseConnection(self) -> None:
        """Hang up."""
        self._transport.loseConnection()

    # -- told by the turns

    def take(self) -> None:
        """Read a share of what waits."""
        self._waits = False
        self._read()
        self._account()
        if self._parser is not None and not (self._waits or self._paused):
            self._transport.resumeProducing()

    def drop(self) -> None:
        """Cut the connection."""
        self._transport.abortConnection()

    # -- inside

    @property
    def _transport(self) -> Any:
        return self.transport

    def _read_on(self) -> None:
        if self._turns.has_room():
            self._read()
            self._account()
        else:
            self._wait()

    def _account(self) -> None:
        """Tell what was read, and wait for the next turn if there is more."""
        if self._chunks is None:
            return
        self._turns.spend(1 + self._chunks.pieces // CHUNKS)
        if self._parser is not None and self._chunks.more:
            self._wait(again=True)

    def _wait(self, *, again: bool = False) -> None:
        self._waits = True
        self._transport.pauseProducing()
        self._turns.wait(self, again=again)

    def _read(self) -> bool:
        """Read a share of the body: whether there is more."""
        if self._parser is None or self._chunks is None:
            return False
        try:
            self._parser.rawDataReceived(b"")
        except Exception:
            self._giveUp(Failure())
        return self._chunks.more

    def _in_head(self) -> bool:
        return self._parser is not None and self._parser.state not in (BODY, DONE)

    def _takes(self, piece: bytes) -> bool:
        """Count what is about to be read of a head: whether that is still one."""
        self._size += len(piece)
        self._line = (self._line + piece)[-3:]
        if piece.endswith(b"\n"):
            self._blank += self._line in (b"\n", b"\r\n")
            self._line = b""
        return self._size <= HEAD_BYTES and self._blank <= INTERIM + 1
