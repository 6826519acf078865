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


class DialogLikeness(Enum):
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


def strip_decoration(text: str) -> str:
    """Return a text without anything that wrapping, boxes, markers and ticks change."""
    return _DECORATION.sub("", text)


def compare_rows(seen: Sequence[str], known: Sequence[str]) -> DialogLikeness:
    """Compare the rows of two views.

    A row is found within the other view, independent of its wrapping there.
    """
    seen_rows, known_rows = _strip_rows(seen), _strip_rows(known)
    new, old = "".join(seen_rows), "".join(known_rows)
    if new == old:
        return DialogLikeness.SAME
    if new and (old.endswith(new) or _collect_cells(seen) <= _collect_cells(known)):
        return DialogLikeness.CUT
    if all(row in old for row in seen_rows):
        return DialogLikeness.PART
    if all(row in new for row in known_rows):
        return DialogLikeness.FULLER
    return DialogLikeness.OTHER


def _collect_cells(rows: Sequence[str]) -> frozenset[str]:
    """Return the column texts: a client may show more columns if there is room."""
    return frozenset(cell for row in rows for cell in _strip_rows(_COLUMNS.split(row)))


def _strip_rows(rows: Sequence[str]) -> list[str]:
    return [said for said in map(strip_decoration, rows) if said]
