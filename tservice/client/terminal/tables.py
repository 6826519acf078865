"""Tables that fit the width of the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

GAP = "  "
ELLIPSIS = "…"
NARROWEST = 4
"""Minimum number of columns of a cell in a narrow terminal."""
_COLOURS: Mapping[str, str] = {
    "busy": "33",
    "working": "33",
    "idle": "32",
    "error": "31",
    "failed": "31",
    "stopped": "2",
}


def format_table(rows: Sequence[Sequence[str]], width: int | None, colour: bool) -> list[str]:
    """Return the lines of a table.

    @param rows: cells of each row. All rows have the same length, and the first one is the header.
        The texts must be safe for a terminal.
    @param width: columns of the terminal. C{None} means that nothing is cut.
    @param colour: true to colour words that are states.
    """
    widths = [max(map(count_columns, column)) for column in zip(*rows, strict=True)]
    if width is not None:
        widths = _fit_widths(widths, width - len(GAP) * (len(widths) - 1))
    return [_format_line(row, widths, colour and row is not rows[0]) for row in rows]


def count_columns(text: str) -> int:
    """Return the number of terminal columns that C{text} occupies."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def cut_text(text: str, width: int) -> str:
    """Return C{text} cut to C{width} columns; a longer text ends in an ellipsis."""
    if count_columns(text) <= width:
        return text
    taken, kept = 0, ""
    for character in text:
        taken += _columns_of(character)
        if taken > width - 1:
            break
        kept += character
    return kept + ELLIPSIS


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fit_widths(widths: Sequence[int], space: int) -> list[int]:
    """Return reduced column widths whose sum is at most C{space}. The widest column shrinks
    first.
    """
    found = list(widths)
    while sum(found) > space and max(found) > NARROWEST:
        widest = found.index(max(found))
        others = max([NARROWEST, *(n for at, n in enumerate(found) if at != widest)])
        surplus = sum(found) - space
        found[widest] -= max(1, min(surplus, found[widest] - others))
    return found


def _format_line(row: Sequence[str], widths: Sequence[int], colour: bool) -> str:
    cells = []
    for cell, width in zip(row, widths, strict=True):
        shown = cut_text(cell, width)
        blank = " " * (width - count_columns(shown))
        if colour and cell in _COLOURS:
            shown = f"\x1b[{_COLOURS[cell]}m{shown}\x1b[0m"
        cells.append(shown + blank)
    return GAP.join(cells).rstrip()
