"""A capture as bytes that bring a fresh terminal of the same size to the same state.  Pure."""

from __future__ import annotations

from tservice.mux.interface import Capture

_PLAIN = b"\x1b[m\x1b(B"
_LINE = b"\r\n"


def replay(capture: Capture) -> bytes:
    """History, screen, modes and caret of C{capture} (wire 2, snapshot).

    While a program shows the alternate screen, the main screen behind it comes first, so that the
    terminal shows it when the program leaves.
    """
    above = b"".join(line + _LINE for line in capture.lines[: capture.history])
    screen = _LINE.join(capture.lines[capture.history :])
    if not capture.alternate_screen:
        return b"".join((above, _PLAIN, screen, _PLAIN, capture.modes, capture.finish))
    column, row = capture.main_cursor
    behind = _LINE.join(capture.main) + _PLAIN + b"\x1b[%d;%dH" % (row + 1, column + 1)
    shown = (capture.modes, b"\x1b[H", screen, _PLAIN, capture.finish)
    return b"".join((above, _PLAIN, behind, *shown))
