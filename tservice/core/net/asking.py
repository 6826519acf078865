"""A client's connection: Twisted's own, with bounds to what an answer may cost."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.web._newclient import BODY, DONE, HTTP11ClientProtocol, Request
from twisted.web.iweb import IResponse

from tservice.core.net.chunks import Chunks

HEAD_BYTES = 64 * 1024
"""Of an answer before its body, interim answers included (protocol-webtabs)."""
INTERIM = 8
"""Interim answers (1xx), each of which Twisted writes a line of the log about."""


class Asking(HTTP11ClientProtocol):
    """A client that hangs up on a server whose head has no end, and reads chunks together."""

    def __init__(self, quiescentCallback: Any = lambda protocol: None) -> None:
        super().__init__(quiescentCallback)
        self._size = self._blank = 0
        self._line = b""

    def request(self, request: Request) -> Deferred[IResponse]:
        answer = super().request(request)
        parser: Any = self._parser
        parser._transferDecoders = {b"chunked": self._in_chunks}
        return answer

    def dataReceived(self, data: bytes) -> None:
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

    def drop(self) -> None:
        """Cut the connection."""
        transport: Any = self.transport
        transport.abortConnection()

    def _in_chunks(self, took: Any, finished: Any) -> Chunks:
        return Chunks(took, finished)

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
