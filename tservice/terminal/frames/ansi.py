r"""Removal of escape sequences from captured rows, and from a stream cut at any place.

These count as one escape sequence (ECMA-48, and the additions of tmux and xterm):

- C{ESC [ params final}: control sequences;
- C{ESC ] ... BEL} or C{ESC ] ... ESC \}: operating system commands;
- C{ESC P}, C{ESC X}, C{ESC ^}, C{ESC _} and screen's title C{ESC k}, each up to C{ESC \} or BEL;
- C{ESC} and intermediates and a final byte: charset designations and similar ones;
- C{ESC} and one more byte.

CAN and SUB end a string. An ESC that is no terminator ends the open sequence and begins another. A
sequence that breaks its grammar is dropped up to the byte that breaks it. 8-bit controls (C{0x80}
to C{0x9f}) are text: in a UTF-8 stream those are continuation bytes. Other controls are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable

LIMIT = 8 * 1024
"""Maximum bytes of the parameters or the string of one sequence (architecture-mux).

A longer sequence is dropped up to this limit, and the rest counts as text. So an introducer in a
binary file cannot swallow the stream, and the stripper buffers at most this much between chunks.
"""

_PARAMETERS = rb"[\x20-\x3f]{0,%d}" % LIMIT
_STRING = rb"[^\x07\x18\x1a\x1b]{0,%d}" % LIMIT
_INTERMEDIATES = rb"[\x20-\x2f]{0,%d}" % LIMIT

# The first literal is ESC, so that the search runs at the speed of memchr.
_SEQUENCE = re.compile(
    rb"\x1b(?:\[%b[\x40-\x7e]?|[]PX^_k]%b(?:[\x07\x18\x1a]|\x1b\\)?|%b[\x30-\x7e]?)"
    % (_PARAMETERS, _STRING, _INTERMEDIATES)
)
_OPEN = re.compile(rb"\x1b(?:\[%b|[]PX^_k]%b\x1b?|%b)" % (_PARAMETERS, _STRING, _INTERMEDIATES))
_DRAWING = re.compile(rb"\x1b\(0((?:(?!\x1b\(B).)*)(?:\x1b\(B)?", re.DOTALL)

_DRAWN = dict(
    zip(
        b"`afgijklmnopqrstuvwxyz{|}~",
        "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·",
        strict=True,
    )
)


def strip_escapes(data: bytes) -> bytes:
    """Return C{data} without escape sequences; an unfinished one at the end is dropped."""
    return _SEQUENCE.sub(b"", data[: _find_unfinished(data)])


def plain_text(row: bytes) -> str:
    """Return C{row} as text without escape sequences and trailing blanks.

    Line drawing characters become Unicode.
    """
    return plain_bytes(row).decode("utf-8", "replace").rstrip(" ")


def plain_bytes(row: bytes) -> bytes:
    """Return C{row} as UTF-8 without escape sequences, but with its trailing blanks."""
    if b"\x1b(0" in row:
        row = _DRAWING.sub(_draw_lines, row)
    return strip_escapes(row) if b"\x1b" in row else row


class EscapeStripper:
    """Incremental stripper, whose joined results do not depend on the chunk boundaries.

    Between two chunks it buffers at most L{LIMIT} bytes and an introducer.
    """

    def __init__(self, stays: Callable[[bytes], bool] | None = None) -> None:
        """@param stays: called with each escape sequence; returns true if the sequence must stay in
        the output. C{None} removes every sequence.
        """
        self._open = b""
        self._stays = stays

    def feed(self, data: bytes) -> bytes:
        """Return the text that is complete after C{data}.

        An unfinished escape sequence waits for the next chunk.
        """
        if self._open:
            data = self._open + data
            self._open = b""
        elif b"\x1b" not in data:
            return data
        cut = _find_unfinished(data)
        self._open = data[cut:]
        stays = self._stays
        if stays is None:
            return _SEQUENCE.sub(b"", data[:cut])
        return _SEQUENCE.sub(lambda found: found[0] if stays(found[0]) else b"", data[:cut])


def _find_unfinished(data: bytes) -> int:
    """Return the start of an unfinished sequence at the end of C{data}, else the length of
    C{data}.
    """
    last = data.rfind(b"\x1b")
    if last < 0:
        return len(data)
    if last == len(data) - 1:
        # This may be the first half of a terminator: then the string before it is still open.
        string = data.rfind(b"\x1b", 0, last)
        if string >= 0 and _OPEN.fullmatch(data, string):
            return string
    return last if _OPEN.fullmatch(data, last) else len(data)


def _draw_lines(match: re.Match[bytes]) -> bytes:
    text = strip_escapes(match[1])
    return "".join(_DRAWN.get(byte, chr(byte)) for byte in text).encode()
