"""Twisted's HTTP client protocol with limits on the cost of a response."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.web._newclient import BODY, DONE, HTTP11ClientProtocol, Request
from twisted.web.iweb import IResponse

from tservice.core.net.chunked_body import BatchedChunkDecoder

HEAD_BYTES = 64 * 1024
"""Limit on the head of a response in bytes, interim responses included (protocol-webtabs)."""
INTERIM = 8
"""Limit on the number of interim responses (1xx); Twisted logs a line for each."""


class BoundedHttpClient(HTTP11ClientProtocol):
    """HTTP client protocol that disconnects if the head of a response is too long.

    Several chunks of a chunked response are decoded at once.
    """

    def __init__(self, quiescentCallback: Any = lambda protocol: None) -> None:
        super().__init__(quiescentCallback)
        self._size = self._blank = 0
        self._line = b""

    def request(self, request: Request) -> Deferred[IResponse]:
        answer = super().request(request)
        parser: Any = self._parser
        parser._transferDecoders = {b"chunked": self._is_reading_chunks}
        return answer

    def dataReceived(self, data: bytes) -> None:
        at = 0
        while at < len(data) and self._is_reading_head():
            # Line by line; otherwise 64 KiB could hold thousands of responses in one iteration.
            end = data.find(b"\n", at) + 1 or len(data)
            if not self._count_head_bytes(data[at:end]):
                self.abort_connection()
                return
            super().dataReceived(data[at:end])
            at = end
        if at < len(data):
            super().dataReceived(data[at:])

    def abort_connection(self) -> None:
        """Abort the connection."""
        transport: Any = self.transport
        transport.abortConnection()

    def _is_reading_chunks(self, took: Any, finished: Any) -> BatchedChunkDecoder:
        return BatchedChunkDecoder(took, finished)

    def _is_reading_head(self) -> bool:
        return self._parser is not None and self._parser.state not in (BODY, DONE)

    def _count_head_bytes(self, piece: bytes) -> bool:
        """Count the bytes of a response's head before they are parsed; return false over the
        limit.
        """
        self._size += len(piece)
        self._line = (self._line + piece)[-3:]
        if piece.endswith(b"\n"):
            self._blank += self._line in (b"\n", b"\r\n")
            self._line = b""
        return self._size <= HEAD_BYTES and self._blank <= INTERIM + 1
