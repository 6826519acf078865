"""The links of a captured screen, from the output that the log still holds (protocol-websocket)."""

from __future__ import annotations

from attrs import evolve

from tservice.mux.interface import Capture
from tservice.mux.outputlog import OutputLog
from tservice.terminal.lines import goes_on
from tservice.terminal.links import LOOK_BACK, OPENING, LinkBook

PIECE = 32 * 1024
"""Bytes read at a time: the log keeps what was read last."""


def with_links(capture: Capture, log: OutputLog) -> Capture:
    """C{capture} with the links that its rows were printed with, as far as that is certain."""
    # A multiplexer that keeps links knows more.
    kept = any(OPENING in row for row in (*capture.lines, *capture.main))
    if kept or not log.holds(capture.offset):
        return capture
    start = max(log.start, capture.offset - LOOK_BACK)
    printed = b"".join(
        log.read(at, min(PIECE, capture.offset - at)) for at in range(start, capture.offset, PIECE)
    )
    if OPENING not in printed:
        return capture
    book = LinkBook(printed, capture.cols, whole=start == 0)
    lines = book.linked(capture.lines, goes_on(capture))
    return evolve(capture, lines=lines, main=book.linked(capture.main, capture.main_wrapped))
