"""Comparison of two views of a dialog: cut off, partially drawn or wrapped differently, it is
the same. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from tservice.terminal.dialog_options import MARKERS
from tservice.terminal.dialog_questions import LINES

_DECORATION = re.compile(rf"{LINES.pattern}|[{MARKERS}☐☑☒✔✓←\s]")

_COLUMNS = re.compile(r" {3,}")


class Likeness(Enum):
    """Relation of a captured view to the known one."""

    SAME = "same"
    """The text is the same."""
    CUT = "cut"
    """Rows are missing; the present ones are complete."""
    PART = "part"
    """No text differs, but rows may be cut in two."""
    FULLER = "fuller"
    """The view contains all known text, and more."""
    OTHER = "other"
    """The text differs."""


def letters(text: str) -> str:
    """Return a text without anything that wrapping, boxes, markers and ticks change."""
    return _DECORATION.sub("", text)


def compare(seen: Sequence[str], known: Sequence[str]) -> Likeness:
    """Compare the rows of two views.

    A row is found within the other view, independent of its wrapping there.
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
    """Return the column texts: a client may show more columns if there is room."""
    return frozenset(cell for row in rows for cell in _rows(_COLUMNS.split(row)))


def _rows(rows: Sequence[str]) -> list[str]:
    return [said for said in map(letters, rows) if said]
