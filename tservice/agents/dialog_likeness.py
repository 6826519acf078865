"""Comparison of two views of a dialog, one of which may be cut off, half drawn or wrapped
differently.

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from tservice.terminal.dialogs.dialog_options import MARKERS
from tservice.terminal.dialogs.dialog_questions import LINES

_DECORATION = re.compile(rf"{LINES.pattern}|[{MARKERS}☐☑☒✔✓←\s]")

_COLUMNS = re.compile(r" {3,}")


class DialogLikeness(Enum):
    """Relation of a captured view of a dialog to the known view."""

    SAME = "same"
    """Both views have the same text."""
    CUT = "cut"
    """The captured view lacks some rows; its other rows are complete."""
    PART = "part"
    """The captured view contains no other text, but its rows may be cut in two."""
    FULLER = "fuller"
    """The captured view contains the whole known text, and more."""
    OTHER = "other"
    """The texts differ."""


def strip_decoration(text: str) -> str:
    """Return a text without characters that depend on wrapping, boxes, markers and ticks."""
    return _DECORATION.sub("", text)


def compare_rows(seen: Sequence[str], known: Sequence[str]) -> DialogLikeness:
    """Return the relation of the rows C{seen} to the rows C{known}.

    The result does not depend on the wrapping of the rows.
    """
    seen_rows, known_rows = _strip_rows(seen), _strip_rows(known)
    new, old = "".join(seen_rows), "".join(known_rows)
    if new == old:
        return DialogLikeness.SAME
    if new and (old.endswith(new) or _collect_column_texts(seen) <= _collect_column_texts(known)):
        return DialogLikeness.CUT
    if all(row in old for row in seen_rows):
        return DialogLikeness.PART
    if all(row in new for row in known_rows):
        return DialogLikeness.FULLER
    return DialogLikeness.OTHER


def _collect_column_texts(rows: Sequence[str]) -> frozenset[str]:
    """Return the texts of the rows' separate columns, of which a wider pane may show more."""
    return frozenset(cell for row in rows for cell in _strip_rows(_COLUMNS.split(row)))


def _strip_rows(rows: Sequence[str]) -> list[str]:
    return [said for said in map(strip_decoration, rows) if said]
