"""What still comes in once we have begun to close a WebSocket: only the peer's close matters."""

from __future__ import annotations

FRAMES = 1000
"""Heads of frames that are looked at, of some microseconds each; beyond them none is."""

_CLOSE = 8
_LONGEST_CLOSE = 125
_MORE = {126: 2, 127: 8}
"""Bytes of a length that does not fit into a head's second byte."""


class Farewell:
    """Looks for the peer's close frame in what was under way when ours left, and passes over the
    rest unread.

    @ivar size: bytes that were passed over.
    """

    def __init__(self, rest: int) -> None:
        """@param rest: bytes to come of the frame that was being read."""
        self._rest = rest
        self._head = b""
        self._frames = FRAMES
        self.size = 0

    def finds_close(self, data: bytes) -> bool:
        """Whether the close ends in C{data}, which comes next."""
        self.size += len(data)
        if not self._frames:
            return False
        data, at = self._head + data, self._rest
        while self._frames and (found := _frame(data, at)) is not None:
            is_close, at = found
            if is_close:
                return True
            self._frames -= 1
        self._head, self._rest = data[at:], max(0, at - len(data))
        return False


def _frame(data: bytes, at: int) -> tuple[bool, int] | None:
    """Whether the frame at C{at} is a close, and where the next one begins (RFC 6455, section 5.2).

    @return: C{None} unless its head, of a close the whole, is there.
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
