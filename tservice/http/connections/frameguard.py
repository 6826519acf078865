"""Bounds what an HTTP/2 client sends, before the frames are read.

Each frame costs some ten microseconds, whatever is in it, and the parts of a request's head are
kept until the last of them came.  So frames that bring no request on have a budget, and so has
a head.  Only the nine bytes before each frame are looked at (RFC 9113, section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

FRAME_BYTES = 16 * 1024
"""Of one frame, as long as nobody agreed on more; h2 takes all of it in before it looks."""

HEADER_BYTES = 32 * 1024
"""Encoded bytes of one request's head, its continuations included."""

HEADER_LIST_BYTES = 16 * 1024
"""Bytes of the same head decoded, as much as HTTP/1.1 takes here."""

SMALL_BYTES = 1024
"""Of a body's piece, padding included, that is so small that it counts as bringing nothing on."""

SETTINGS = 64
"""Settings of a client, in one frame and in all: the library keeps what nobody knows as well, and
goes through all of them with each further frame of settings."""

BURST = 2_000
"""Frames at once that bring no request on."""

RATE = 1_000
"""How many more there may be each second: a fast download needs a window update per 16 KiB."""

_PREFACE = 24
_HEAD = 9
_SETTING = 6
_DATA, _HEADERS, _SETTINGS, _PUSH, _CONTINUATION = 0x0, 0x1, 0x4, 0x5, 0x9


class TooMuch(Exception):
    """The client went over a bound; the text says over which."""


class FrameGuard:
    """Looks at the heads of the frames of one connection as its bytes come in.

    @ivar requests: how many have begun.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        """@param seconds: the time."""
        self._seconds = seconds
        self._skip = _PREFACE
        self._head = b""
        self._block = 0
        self.requests = 0
        self._left, self._since = float(BURST), seconds()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """C{data} in pieces, none of which holds the end of more than one frame.

        @raise TooMuch: what is left goes over a bound.
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
            self._judge(head[3], self._skip)
        return len(part)

    def _judge(self, kind: int, length: int) -> None:
        if length > FRAME_BYTES:
            raise TooMuch(f"a frame of more than {FRAME_BYTES} bytes")
        if kind == _SETTINGS and length > SETTINGS * _SETTING:
            raise TooMuch("too many settings in one frame")
        if kind in (_HEADERS, _PUSH, _CONTINUATION):
            self._block = length if kind != _CONTINUATION else self._block + length
            if self._block > HEADER_BYTES:
                raise TooMuch(f"a request's header of more than {HEADER_BYTES} bytes")
        self.requests += kind == _HEADERS
        brings_on = kind == _HEADERS or (kind == _DATA and length >= SMALL_BYTES)
        if not brings_on:
            self._spend()

    def _spend(self) -> None:
        now = self._seconds()
        self._left = min(BURST, self._left + RATE * (now - self._since))
        self._since = now
        if self._left < 1:
            raise TooMuch("too many frames that bring no request on")
        self._left -= 1
