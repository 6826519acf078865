"""Parsing of incoming data after the service has sent its close: only the peer's close matters."""

from __future__ import annotations

FRAMES = 1000
"""Limit on the frame headers that are parsed, at some microseconds each; later frames are ignored.
"""

_CLOSE = 8
_LONGEST_CLOSE = 125
_MORE = {126: 2, 127: 8}
"""Bytes of a length that does not fit into a header's second byte."""


class CloseFrameFinder:
    """Finds the peer's close frame in data that was in transit when the service closed, and skips
    the rest unread.

    @ivar size: number of skipped bytes.
    """

    def __init__(self, rest: int) -> None:
        """@param rest: remaining bytes of the frame that was being read."""
        self._rest = rest
        self._head = b""
        self._frames = FRAMES
        self.size = 0

    def finds_close(self, data: bytes) -> bool:
        """Return whether the close frame ends in C{data}, the next bytes."""
        self.size += len(data)
        if not self._frames:
            return False
        data, at = self._head + data, self._rest
        while self._frames and (found := _parse_frame(data, at)) is not None:
            is_close, at = found
            if is_close:
                return True
            self._frames -= 1
        self._head, self._rest = data[at:], max(0, at - len(data))
        return False


def _parse_frame(data: bytes, at: int) -> tuple[bool, int] | None:
    """Return whether the frame at C{at} is a close, and the start of the next one (RFC 6455,
    section 5.2).

    @return: C{None} unless its header, or for a close the whole frame, is available.
    """
    if len(data) < at + 2:
        return None
    length = data[at + 1] & 0x7F
    more = at + 2 + _MORE.get(length, 0)
    start = more + (4 if data[at + 1] & 0x80 else 0)
    is_close = data[at] & 0x0F == _CLOSE and length <= _LONGEST_CLOSE
    if len(data) < (start + length if is_close else start):
        return None
    if length > _LONGEST_CLOSE:
        length = int.from_bytes(data[at + 2 : more], "big")
    return is_close, start + length
