"""Parsing of received data after the service has sent its close frame.

Only the peer's close frame matters then.
"""

from __future__ import annotations

FRAMES = 1000
"""Limit on the frame headers that are parsed, each of which costs some microseconds; later frames
are ignored.
"""

_CLOSE = 8
_LONGEST_CLOSE = 125
_MORE = {126: 2, 127: 8}
"""Number of additional length bytes, by the length code in a header's second byte."""


class CloseFrameFinder:
    """Finds the peer's close frame in received data, and skips all other frames unread.

    @ivar size: number of skipped bytes.
    """

    def __init__(self, rest: int) -> None:
        """@param rest: number of bytes that remain of the frame that was being read."""
        self._rest = rest
        self._head = b""
        self._frames = FRAMES
        self.size = 0

    def finds_close(self, data: bytes) -> bool:
        """Return whether C{data}, the next received bytes, contains the end of the close frame."""
        self.size += len(data)
        if not self._frames:
            return False
        data, at = self._head + data, self._rest
        while self._frames and (found := _find_frame_end(data, at)) is not None:
            is_close, at = found
            if is_close:
                return True
            self._frames -= 1
        self._head, self._rest = data[at:], max(0, at - len(data))
        return False


def _find_frame_end(data: bytes, at: int) -> tuple[bool, int] | None:
    """Return whether the frame at offset C{at} is a close frame, and the offset of the next one.

    The format is that of RFC 6455, section 5.2.

    @return: C{None} if the header, or for a close frame the whole frame, has not arrived yet.
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
