"""Detection of rows that tmux wrapped.

Only the output of C{capture-pane -J} shows this: there, a wrapped row and the next row are one
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category

from tservice.terminal.frames.ansi import strip_escapes
from tservice.terminal.frames.wrapped_lines import count_cells

_SHIFTS = bytes((14, 15))
_JOINER = "\u200d"
_NEAR = 512
"""Bytes at the start of a row that contain its styles and its first character."""


def find_wrapped_rows(rows: Sequence[bytes], lines: Sequence[bytes], cols: int) -> frozenset[int]:
    """Return the indices of C{rows} that continue in the next row.

    @param rows: the rows as printed without C{-J}.
    @param lines: the same rows as printed with C{-J}.
    @param cols: columns of the screen. A terminal wraps a row only where the row is full.
    """
    found: set[int] = set()
    at = 0
    for number, line in enumerate(lines):
        if at >= len(rows):
            break
        size, at = len(rows[at]), at + 1
        while size < len(line) and at < len(rows):
            found.add(at - 1)
            size, at = size + len(rows[at]), at + 1
        if size != len(line):
            # The two captures do not show the same rows.
            return frozenset()
        following = lines[number + 1] if number + 1 < len(lines) else None
        while following != b"" and at < len(rows) and not rows[at]:
            # An empty row into which a wrapped row continued before it was erased.
            at += 1
    return frozenset(row for row in found if is_full(rows[row], rows[row + 1], cols))


def is_full(row: bytes, following: bytes, cols: int) -> bool:
    """Return true if a terminal of C{cols} columns would wrap between C{row} and C{following}.

    tmux also marks rows that are not full: it ignores the row's length if a wide character does not
    fit after the caret, and a screen that becomes wider keeps its marks.
    """
    text, begun = _strip_styles(row), _strip_styles(following[:_NEAR])
    if not begun:
        # The row was erased since, and nothing continues there.
        return False
    least, most = _count_cells(text)
    # A wide character that does not fit leaves the last column empty.
    return least <= cols <= most or (least < cols <= most + 1 and not begun[:1].isascii())


def _count_cells(text: bytes) -> tuple[int, int]:
    """Return the minimum and maximum number of cells that a text takes.

    Some characters have one or two cells, depending on tmux's version and library. A character that
    is joined to another has none.
    """
    if text.isascii():
        return len(text), len(text)
    least = most = 0
    joined = False
    for character in text.decode("utf-8", "replace"):
        usual = count_cells(character)
        unsure = joined or _has_uncertain_width(character)
        least += 0 if joined else min(usual, 1) if unsure else usual
        most += 2 if unsure else usual
        joined = character == _JOINER
    return least, most


def _has_uncertain_width(character: str) -> bool:
    if "\u2600" <= character < "\u27c0" or "\u4dc0" <= character < "\u4e00":
        return True
    return character >= "\U0001f000" or category(character) == "Cn"


def fills_last_row(line: bytes, cols: int) -> bool:
    """Return true if the last screen row of C{line} is full, as far as this can be determined.

    @param line: a line of joined rows.
    """
    text = _strip_styles(line)
    return bool(text) and (not text.isascii() or len(text) % cols == 0)


def _strip_styles(row: bytes) -> bytes:
    plain = strip_escapes(row) if b"\x1b" in row else row
    return plain.translate(None, _SHIFTS)
