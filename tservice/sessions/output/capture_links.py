"""Restores the links of a captured screen from the output in the log (protocol-websocket)."""

from __future__ import annotations

from attrs import evolve

from tservice.mux.interface import PaneCapture
from tservice.mux.outputlog import OutputLog
from tservice.terminal.frames.link_index import LOOK_BACK, OPENING, LinkIndex
from tservice.terminal.frames.wrapped_lines import find_continued_rows

PIECE = 32 * 1024
"""Bytes of the log that are read at a time, because the log caches the last read."""


def restore_capture_links(capture: PaneCapture, log: OutputLog) -> PaneCapture:
    """Return C{capture} with those links that its rows were certainly printed with."""
    # A multiplexer that keeps links is more reliable.
    kept = any(OPENING in row for row in (*capture.lines, *capture.main))
    if kept or not log.has_offset(capture.offset):
        return capture
    start = max(log.start, capture.offset - LOOK_BACK)
    printed = b"".join(
        log.read(at, min(PIECE, capture.offset - at)) for at in range(start, capture.offset, PIECE)
    )
    if OPENING not in printed:
        return capture
    book = LinkIndex(printed, capture.cols, whole=start == 0)
    lines = book.add_links(capture.lines, find_continued_rows(capture))
    return evolve(capture, lines=lines, main=book.add_links(capture.main, capture.main_wrapped))
