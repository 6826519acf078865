"""Compare two views of a dialog: cut off, drawn in part or wrapped anew, it is the same.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from tservice.terminal.options import MARKERS
from tservice.terminal.questions import LINES

_DECORATION = re.compile(rf"{LINES.pattern}|[{MARKERS}☐☑☒✔✓←\s]")

_COLUMNS = re.compile(r" {3,}")


class Likeness(Enum):
    """How what is seen relates to what is known."""

    SAME = "same"
    """It says the same."""
    CUT = "cut"
    """Rows are missing; those that are there are whole."""
    PART = "part"
    """It says nothing else, but rows may be cut in two."""
    FULLER = "fuller"
    """It says all that is known, and more."""
    OTHER = "other"
    """It says something else."""


def letters(text: str) -> str:
    """What a text says, without what wrapping, boxes, markers and ticks change."""
    return _DECORATION.sub("", text)


def compare(seen: Sequence[str], known: Sequence[str]) -> Likeness:
    """Compare the rows of two views.

    A row is found within the other view wherever it was wrapped there.
    """
    seen_rows, known_rows = _rows(seen), _rows(known)
    new, old = "".join(seen_rows), "".join(known_rows)
    if new == old:
        return Likeness.SAME
    if new and (old.endswith(new) or _cells(seen) <= _cells(known)):
        return Likeness.CUT
    if all(row in old for row in seen_rows):
        return Likeness.PART
    if all(row in new for row in known_rows):
        return Likeness.FULLER
    return Likeness.OTHER


def _cells(rows: Sequence[str]) -> frozenset[str]:
    """What stands side by side: a client may show more columns where there is room."""
    return frozenset(cell for row in rows for cell in _rows(_COLUMNS.split(row)))


def _rows(rows: Sequence[str]) -> list[str]:
    return [said for said in map(letters, rows) if said]
