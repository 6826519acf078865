"""Bringing the caret back after a screen was written."""

from __future__ import annotations

from tservice.terminal.frame import PaneContent


def back_to_caret(frame: PaneContent) -> bytes:
    """The relative move from the end of the screen's last row to the caret (protocol-terminal).

    Relative, because the reader's terminal may have more rows than the pane.
    """
    up = max(0, frame.rows - 1 - frame.cursor_y)
    right = min(frame.cursor_x, frame.cols - 1)
    move = b"\r"
    if up:
        move += b"\x1b[%dA" % up
    if right:
        move += b"\x1b[%dC" % right
    return move
