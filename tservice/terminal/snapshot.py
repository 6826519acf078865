"""A capture as the bytes that put a freshly reset terminal into the same state.

What a capture does not know, these bytes cannot say: the style of the pen and the tab stops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tservice.terminal.frame import PaneContent
from tservice.terminal.sgr import RESET, contained_rows, self_contained

_ALTERNATE = b"\x1b[?1049h"
_NEW_ROW = b"\r\n"


def snapshot(frame: PaneContent) -> bytes:
    """History, screen, modes and caret, to be written to a reset terminal of the same size.

    While a program shows the alternate screen, the main screen behind it comes first, so that
    the terminal shows it when the program leaves.
    """
    rows = [*contained_rows(frame.lines, frame.history)]
    if frame.alternate_screen:
        above, screen = rows[: frame.history], rows[frame.history :]
        body = _behind(above, frame) + _ALTERNATE + _placed(screen)
    else:
        body = _NEW_ROW.join(rows)
    # Rows first: modes may switch wrapping off, or origin or insert mode on.
    modes = frame.modes.replace(_ALTERNATE, b"")
    return b"".join((body, RESET, modes, frame.finish or _caret(rows, frame)))


def snapshot_text(frame: PaneContent) -> str:
    """L{snapshot} as text, for a JSON string; bytes that are no UTF-8 become U+FFFD."""
    return snapshot(frame).decode("utf-8", "replace")


def _behind(history: Sequence[bytes], frame: PaneContent) -> bytes:
    """The history scrolled off, and the main screen with its caret."""
    above = _NEW_ROW.join(history) + _NEW_ROW * frame.rows if history else b""
    column, row = frame.main_cursor
    return above + _placed(self_contained(frame.main)) + _move(column, row)


def _placed(screen: Iterable[bytes]) -> bytes:
    return b"".join(_move(0, y) + row for y, row in enumerate(screen) if row)


def _move(column: int, row: int) -> bytes:
    return b"\x1b[%d;%dH" % (row + 1, column + 1)


def _caret(rows: Sequence[bytes], frame: PaneContent) -> bytes:
    y = min(frame.cursor_y, frame.rows - 1)
    if frame.cursor_x < frame.cols:
        return _move(frame.cursor_x, y)
    # Behind the last column the next character wraps; only writing the row gets there.
    return _move(0, y) + rows[frame.history + y]
