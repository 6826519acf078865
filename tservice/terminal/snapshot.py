"""A capture as the bytes that put a freshly reset terminal into the same state.

What a capture does not know, these bytes cannot say: the pen's style, the saved main screen
below an alternate one (it is left blank), tab stops and the scroll region unless the modes hold
it.  A program that leaves its full-screen view repaints what it needs.
"""

from __future__ import annotations

from tservice.terminal.frame import Frame
from tservice.terminal.sgr import RESET, self_contained

_DRAWING_FONT = b"\x1b)0"
_PLAIN_FONT = b"\x1b)B"
_ALTERNATE = b"\x1b[?1049h"
_NEW_ROW = b"\r\n"


def snapshot(frame: Frame) -> bytes:
    """History, screen, modes and caret, to be written to a reset terminal of the same size."""
    rows = list(self_contained(frame.lines))
    if frame.alternate_screen:
        body = _above(rows[: frame.history], frame.rows) + _ALTERNATE + _placed(rows, frame)
    else:
        body = _NEW_ROW.join(rows)
    # Rows first: a program may have switched wrapping off, or origin or insert mode on.
    modes = frame.modes.replace(_ALTERNATE, b"")
    return b"".join((_DRAWING_FONT, body, RESET, _PLAIN_FONT, modes, _caret(rows, frame)))


def snapshot_text(frame: Frame) -> str:
    """L{snapshot} as text, for a JSON string; bytes that are no UTF-8 become U+FFFD."""
    return snapshot(frame).decode("utf-8", "replace")


def _above(history: list[bytes], rows: int) -> bytes:
    """Write the history and scroll it off a screen of C{rows}."""
    if not history:
        return b""
    return _NEW_ROW.join(history) + _NEW_ROW * rows


def _placed(rows: list[bytes], frame: Frame) -> bytes:
    screen = rows[frame.history :]
    return b"".join(b"\x1b[%d;1H%b" % (y, row) for y, row in enumerate(screen, 1) if row)


def _caret(rows: list[bytes], frame: Frame) -> bytes:
    y = min(frame.cursor_y, frame.rows - 1)
    if frame.cursor_x < frame.cols:
        return b"\x1b[%d;%dH" % (y + 1, frame.cursor_x + 1)
    # Behind the last column the next character wraps; only writing the row gets there.
    row = rows[frame.history + y]
    return b"\x1b[%d;1H" % (y + 1) + _DRAWING_FONT + row + _PLAIN_FONT
