"""Limits on HTTP/2 clients, applied before frames are parsed.

Each frame costs some ten microseconds, whatever it contains, and the parts of a request's headers
are kept until the last one arrives.  Therefore frames that do not advance a request have a budget,
and so have the headers.  Only the nine bytes before each frame are read (RFC 9113, section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

FRAME_BYTES = 16 * 1024
"""Limit in bytes on one frame, the default of HTTP/2; h2 buffers a whole frame before it parses it.
"""

HEADER_BYTES = 32 * 1024
"""Limit in bytes on the encoded headers of one request, with continuations."""

HEADER_LIST_BYTES = 16 * 1024
"""Limit in bytes on the same headers decoded, the same as for HTTP/1.1."""

SMALL_BYTES = 1024
"""Size in bytes, padding included, up to which a piece of a body counts as not advancing the
request.
"""

SETTINGS = 64
"""Limit on a client's settings, in one frame and in total: the library also keeps unknown ones, and
processes all of them for each further settings frame.
"""

BURST = 2_000
"""Burst of frames that do not advance a request."""

RATE = 1_000
"""Rate at which the budget is refilled, in frames a second: a fast download needs a window update
per 16 KiB.
"""

_PREFACE = 24
_HEAD = 9
_SETTING = 6
_DATA, _HEADERS, _SETTINGS, _PUSH, _CONTINUATION = 0x0, 0x1, 0x4, 0x5, 0x9


class FrameLimitExceeded(Exception):
    """Error of a client that exceeded a limit; the text names the limit."""


class FrameGuard:
    """Checks the frame headers of one connection as its bytes arrive.

    @ivar requests: number of requests that have begun.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        """@param seconds: returns the current time."""
        self._seconds = seconds
        self._skip = _PREFACE
        self._head = b""
        self._block = 0
        self.requests = 0
        self._left, self._since = float(BURST), seconds()

    def split_frames(self, data: bytes) -> Iterator[bytes]:
        """Yield C{data} in pieces, each with the end of at most one frame.

        @raise FrameLimitExceeded: the rest exceeds a limit.
        """
        at = 0
        while at < len(data):
            start = at
            at += self._take_head(data[at : at + _HEAD - len(self._head)]) if not self._skip else 0
            step = min(self._skip, len(data) - at)
            self._skip -= step
            at += step
            yield data[start:at]

    def _take_head(self, part: bytes) -> int:
        self._head += part
        if len(self._head) == _HEAD:
            head, self._head = self._head, b""
            self._skip = int.from_bytes(head[:3], "big")
            self._check_frame(head[3], self._skip)
        return len(part)

    def _check_frame(self, kind: int, length: int) -> None:
        if length > FRAME_BYTES:
            raise FrameLimitExceeded(f"a frame of more than {FRAME_BYTES} bytes")
        if kind == _SETTINGS and length > SETTINGS * _SETTING:
            raise FrameLimitExceeded("too many settings in one frame")
        if kind in (_HEADERS, _PUSH, _CONTINUATION):
            self._block = length if kind != _CONTINUATION else self._block + length
            if self._block > HEADER_BYTES:
                raise FrameLimitExceeded(f"a request's header of more than {HEADER_BYTES} bytes")
        self.requests += kind == _HEADERS
        brings_on = kind == _HEADERS or (kind == _DATA and length >= SMALL_BYTES)
        if not brings_on:
            self._charge_budget()

    def _charge_budget(self) -> None:
        now = self._seconds()
        self._left = min(BURST, self._left + RATE * (now - self._since))
        self._since = now
        if self._left < 1:
            raise FrameLimitExceeded("too many frames that do not advance a request")
        self._left -= 1
