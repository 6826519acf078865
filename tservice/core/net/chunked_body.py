"""Decoder of chunked bodies whose cost a sender cannot inflate.

twisted.web needs four calls for each chunk and passes each chunk on separately.  A read of 64 KiB
in chunks of one byte costs eleven thousand of each.  This decoder finds complete chunks in one pass
and passes them on together.  The number of chunks for each call is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from twisted.web.http import _ChunkedTransferDecoder

_PLAIN = re.compile(rb"([0-9a-fA-F]{1,7})\r\n")
PLAIN_BYTES = 9
"""Maximum length in bytes of a size line that is decoded here.  The base class decodes longer lines
and lines with extensions.
"""


class BatchedChunkDecoder(_ChunkedTransferDecoder):
    """Chunked decoder that passes on data in bounded batches.

    @ivar pieces: number of chunks and parts of chunks that the last call read.
    @ivar more: true if the last call stopped at its limit.  Call L{dataReceived} again, with empty
        data if none has arrived.
    """

    def __init__(
        self,
        took: Callable[[bytes], None],
        finished: Callable[[bytes], None],
        most: int | None = None,
    ) -> None:
        """@param took: called with the decoded data, at most once for each call.
        @param finished: called with the data that follows the end of the body.
        @param most: approximate number of chunks that one call reads at most.  C{None} for no
            limit.
        """
        super().__init__(self._add_to_batch, self._finish_body)
        self.pieces = 0
        self.more = False
        self._took, self._finished, self._most = took, finished, most
        self._gathered: list[bytes] = []

    def buffer_data(self, data: bytes) -> None:
        """Buffer C{data} for the next call."""
        self._buffer += data

    def dataReceived(self, data: bytes) -> None:
        """Decode the buffered data and C{data}.

        @raise twisted.web.http._MalformedChunkedDataError: as in the base class; the data before
            the error has been passed on.
        """
        self._buffer += data
        self.pieces = 0
        self.more = False
        try:
            self._decode_batch()
        finally:
            self._deliver_batch()

    def _decode_batch(self) -> None:
        go_on = True
        while go_on and self._buffer:
            if self._most is not None and self.pieces >= self._most:
                self.more = True
                return
            if self.state == "CHUNK_LENGTH":
                self._read_complete_chunks()
            if self._buffer:
                go_on = getattr(self, f"_dataReceived_{self.state}")()

    def _read_complete_chunks(self) -> None:
        """Decode the leading chunks that are complete and have no extensions."""
        if not _PLAIN.match(self._buffer[:PLAIN_BYTES]):
            return
        room = len(self._buffer) if self._most is None else self._most - self.pieces
        data, at, gathered = bytes(self._buffer), 0, self._gathered
        before = len(gathered)
        while len(gathered) - before < room and (found := _PLAIN.match(data, at)):
            start = found.end()
            end = start + int(found[1], 16)
            if end == start or data[end : end + 2] != b"\r\n":
                break
            gathered.append(data[start:end])
            at = end + 2
        if at:
            self.pieces += len(gathered) - before
            del self._buffer[:at]
            self._start = 0

    def _add_to_batch(self, piece: bytes) -> None:
        self.pieces += 1
        self._gathered.append(piece)

    def _finish_body(self, behind: bytes) -> None:
        self._deliver_batch()
        self._finished(behind)

    def _deliver_batch(self) -> None:
        gathered, self._gathered = self._gathered, []
        if gathered:
            self._took(b"".join(gathered))
