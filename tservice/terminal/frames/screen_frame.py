"""Frame of a terminal, parsed from a multiplexer's capture: rows of text and their styles.

Most rules read the text only, which takes 0.02 ms a frame. The styles take 0.9 ms, so they are read
when a rule asks for the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import field, frozen

from tservice.terminal.frames.ansi import plain_bytes

if TYPE_CHECKING:
    from tservice.terminal.frames.cell_styles import CellStyle

# Pi shows its work at the left of its composer's upper rule.
_RULE = re.compile(
    r"([─━▔▁═])\1{7,}|([─━▔▁═])\2{2,} \S+(?: \S+)* [─━▔▁═]{2,}"
    r"|── [\u2800-\u28ff] \S+(?: \S+)* ─{2,}"
)
# Qwen Code draws boxes that are wider than its screen, so their right side is missing.
_EDGE = re.compile(r"[╭┌╔├╰└╚][─━═┬┴┼]{2,}.*[╮┐╗┤╯┘╝]|[╭╰]─{7,}")
_BORDERS = "│┃║"
_INDENT = _BORDERS + " "
_SCROLLBAR = re.compile(r"(?<=  )[┃█▐]$")
_DEAD = re.compile(r"Pane is dead(?: \(.*)?")


@frozen
class ScreenFrame:
    """Content of a pane at one moment.

    @ivar rows: the text of each row, without trailing blanks (no-break spaces stay).
    @ivar capture: the rows with their styles, as the multiplexer wrote them.
    @ivar cols: the pane's width in cells.
    """

    rows: tuple[str, ...]
    capture: bytes = field(repr=False)
    cols: int

    @classmethod
    def from_capture(cls, capture: bytes, cols: int | None = None) -> ScreenFrame:
        """Parse the output of C{capture-pane -p} or C{capture-pane -p -e}.

        @param cols: the pane's width in cells; C{None} uses the width of the longest row.
        """
        capture = capture.replace(b"\r", b"")
        text = plain_bytes(capture).decode("utf-8", "replace")
        rows = [row.rstrip(" ") for row in text.split("\n")]
        if not rows[-1]:
            rows.pop()
        return cls(tuple(rows), capture, cols or max(map(len, rows), default=0))

    @cached_property
    def inner_rows(self) -> tuple[str, ...]:
        """Rows whose box borders and scrollbar are replaced by blanks, so that columns do not
        change.
        """
        return tuple(map(_strip_borders, self.rows))

    @cached_property
    def last_row(self) -> int:
        """Index of the last filled row; -1 for an empty screen."""
        return max(self.find_filled_rows(0, len(self.rows)), default=-1)

    @cached_property
    def is_dead(self) -> bool:
        """True if the screen shows the multiplexer's note that the pane's process has ended."""
        return self.last_row >= 0 and bool(_DEAD.fullmatch(self.rows[self.last_row].strip()))

    def is_blank(self, at: int) -> bool:
        """Return true if row C{at} is empty, or contains only half blocks, the padding of a
        coloured box.
        """
        return not self.rows[at].strip("\u00a0 ▄▀")

    def is_rule(self, at: int) -> bool:
        """Return true if row C{at} is a horizontal line, with or without a short text in it."""
        return bool(_RULE.fullmatch(self.rows[at].strip(" ")))

    def is_edge(self, at: int) -> bool:
        """Return true if row C{at} is the upper or lower edge of a box."""
        return bool(_EDGE.fullmatch(self.rows[at].strip(" ")))

    def find_filled_rows(self, start: int, stop: int) -> list[int]:
        """Return the indices of the rows that are not blank, from C{start} up to but not including
        C{stop}.
        """
        return [i for i in range(max(0, start), stop) if not self.is_blank(i)]

    def get_styles(self, row: int, start: int, stop: int) -> frozenset[CellStyle]:
        """Return the styles of the characters C{start} to C{stop} of a row."""
        return frozenset(self._styles[row][start:stop])

    @cached_property
    def _styles(self) -> Sequence[Sequence[CellStyle]]:
        # Imported here: pyte takes 10 ms and 1.4 MB, and many services ask for no style.
        from tservice.terminal.frames.cell_styles import read_styles

        return read_styles(self.capture)


def _strip_borders(row: str) -> str:
    row = _SCROLLBAR.sub("", row).rstrip(" ")
    start, stop = 0, len(row)
    while start < stop and row[start] in _INDENT:
        start += 1
        if row[start - 1] == " ":
            continue
        if start < stop and row[stop - 1] in _BORDERS:
            stop -= 1
        while start < stop and row[stop - 1] == " ":
            stop -= 1
    return (" " * start + row[start:stop]).rstrip(" ")
