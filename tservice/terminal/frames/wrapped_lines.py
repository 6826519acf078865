"""Lines of a capture, joined from the rows into which the multiplexer wrapped them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from unicodedata import category, east_asian_width

from tservice.terminal.frames.ansi import plain_bytes
from tservice.terminal.frames.pane_content import PaneContent
from tservice.terminal.frames.sgr import make_capture_self_contained

_GROUND = re.compile(rb"\x1b\[(?:[0-9;:]{0,256}[;:])?(?:4[0-8]|10[0-7])[0-9;:]{0,256}m")
_ERASE = b"\x1b[K"


def join_wrapped(entries: Iterable[bytes], wrapped: Collection[int]) -> Iterator[bytes]:
    """Yield complete lines, joined from the rows in C{entries}.

    @param wrapped: the indices of the entries that continue in the next one.
    """
    if not wrapped:
        # A fast path for most screens: it matters for two thousand rows.
        return iter(entries)
    return (line for _, line in numbered_lines(entries, wrapped))


def numbered_lines(
    entries: Iterable[bytes], wrapped: Collection[int]
) -> Iterator[tuple[int, bytes]]:
    """Yield each complete line with the index of its first row.

    @param wrapped: the indices of the entries that continue in the next one.
    """
    pieces: list[bytes] = []
    index = -1
    for index, entry in enumerate(entries):
        pieces.append(entry)
        if index not in wrapped:
            yield index - len(pieces) + 1, pieces[0] if len(pieces) == 1 else b"".join(pieces)
            pieces.clear()
    if pieces:
        yield index - len(pieces) + 1, b"".join(pieces)


def get_screen_rows(frame: PaneContent) -> tuple[Sequence[bytes], Collection[int]]:
    """Return the rows of the screen, and the indices of those that continue in the next one."""
    start = frame.history
    return frame.lines[start:], {index - start for index in frame.wrapped}


def find_continued_rows(frame: PaneContent) -> frozenset[int]:
    """Return the indices of those C{frame.lines} that continue in the next one."""
    if frame.alternate_screen:
        # There the history continues in the main screen.
        return frame.wrapped - {frame.history - 1}
    return frame.wrapped


def self_contained_lines(frame: PaneContent) -> Iterator[bytes]:
    """Yield the lines of a capture, each with a sequence that sets its initial style and a reset at
    its end.
    """
    return self_contained_history_lines(
        frame.lines, frame.history, find_continued_rows(frame), frame.cols
    )


def self_contained_main_lines(frame: PaneContent) -> Iterator[bytes]:
    """Yield the lines of the history and the main screen in the form of L{self_contained_lines}.

    Use this while the alternate screen is shown.
    """
    wrapped = {index for index in frame.wrapped if index < frame.history}
    wrapped |= {frame.history + index for index in frame.main_wrapped}
    entries = (*frame.lines[: frame.history], *frame.main)
    return self_contained_history_lines(entries, frame.history, wrapped, frame.cols)


def self_contained_history_lines(
    entries: Sequence[bytes], history: int, wrapped: Collection[int], cols: int
) -> Iterator[bytes]:
    """Yield the lines of a history and the screen below it in the form of L{self_contained_lines}.

    @param history: the number of entries that belong to the history.
    @param wrapped: the indices of the entries that continue in the next one.
    """
    lines = join_wrapped(make_capture_self_contained(entries, history), wrapped)
    # A terminal that scrolls for a new row paints it with the current background.
    return (_erase_line_end(line, cols) if len(line) > cols else line for line in lines)


def _erase_line_end(line: bytes, cols: int) -> bytes:
    # After the last column nothing is painted, and some terminals would erase a character.
    if not _GROUND.search(line) or _is_last_row_full(line, cols):
        return line
    return line + _ERASE


def _is_last_row_full(line: bytes, cols: int) -> bool:
    """Return true if a line fills its last row up to column C{cols}."""
    text = plain_bytes(line)
    if text.isascii():
        return len(text) % cols == 0
    at = 0
    for character in text.decode("utf-8", "replace"):
        width = count_cells(character)
        at = width if at + width > cols else at + width
    return at == cols


def count_cells(character: str) -> int:
    """Return the number of terminal cells of a character, according to Unicode."""
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
