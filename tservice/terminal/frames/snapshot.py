"""Conversion of a capture to bytes that bring a reset terminal into the same state.

A capture does not contain the current style and the tab stops, so these bytes do not restore them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tservice.terminal.frames.pane_content import PaneContent
from tservice.terminal.frames.sgr import RESET, make_self_contained
from tservice.terminal.frames.wrapped_lines import (
    get_screen_rows,
    numbered_lines,
    self_contained_history_lines,
    self_contained_lines,
    self_contained_main_lines,
)

_ALTERNATE = b"\x1b[?1049h"
_NEW_ROW = b"\r\n"


def build_snapshot(frame: PaneContent) -> bytes:
    """Return history, screen, modes and caret, as bytes for a reset terminal of the same size.

    A wrapped line is written as one, so that the terminal wraps it where the pane does. While the
    alternate screen is shown, the main screen comes first. So the terminal shows the main screen
    when the program ends.
    """
    if frame.alternate_screen:
        body = _build_main_screen(frame) + _ALTERNATE + _place_rows(*get_screen_rows(frame))
    else:
        body = _NEW_ROW.join(self_contained_lines(frame))
    # Rows first: modes may switch wrapping off, or origin or insert mode on.
    modes = frame.modes.replace(_ALTERNATE, b"")
    return b"".join((body, RESET, modes, frame.finish or _move_caret(frame)))


def build_snapshot_text(frame: PaneContent) -> str:
    """Return L{build_snapshot} as text, for a JSON string; invalid UTF-8 becomes U+FFFD."""
    return build_snapshot(frame).decode("utf-8", "replace")


def move_to_caret(frame: PaneContent) -> bytes:
    """Return the sequence that moves from the end of the screen's last row to the caret
    (protocol-terminal).

    The move is relative, because the reader's terminal may have more rows than the pane.
    """
    up = max(0, frame.rows - 1 - frame.cursor_y)
    right = min(frame.cursor_x, frame.cols - 1)
    move = b"\r"
    if up:
        move += b"\x1b[%dA" % up
    if right:
        move += b"\x1b[%dC" % right
    return move


def _build_main_screen(frame: PaneContent) -> bytes:
    """Return the bytes that print the history, scroll it off, and draw the main screen with its
    caret.
    """
    column, row = frame.main_cursor
    history, main = frame.lines[: frame.history], frame.main
    if len(main) == frame.rows:
        # Written one after the other, because a line of the history may continue in the screen.
        return _NEW_ROW.join(self_contained_main_lines(frame)) + _move_to(column, row)
    # The pane had another size when the program began.
    lines = self_contained_history_lines(history, len(history), frame.wrapped, frame.cols)
    above = _NEW_ROW.join(lines) + _NEW_ROW * frame.rows if history else b""
    return above + _place_rows(main, frame.main_wrapped) + _move_to(column, row)


def _place_rows(rows: Sequence[bytes], wrapped: Collection[int]) -> bytes:
    lines = numbered_lines(make_self_contained(rows), wrapped)
    return b"".join(_move_to(0, y) + line for y, line in lines if line)


def _move_to(column: int, row: int) -> bytes:
    return b"\x1b[%d;%dH" % (row + 1, column + 1)


def _move_caret(frame: PaneContent) -> bytes:
    y = min(frame.cursor_y, frame.rows - 1)
    if frame.cursor_x < frame.cols:
        return _move_to(frame.cursor_x, y)
    # After the last column the next character wraps; only writing the row reaches that state.
    return _move_to(0, y) + [*make_self_contained(frame.lines[frame.history :])][y]
