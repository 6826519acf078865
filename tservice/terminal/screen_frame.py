"""Frame of a terminal, parsed from a multiplexer's capture: rows of text and their styles.

C{capture-pane -e} yields finished rows with SGR sequences only, so nothing has to be emulated. One
regular expression splits a row at its sequences (0.1 ms a frame). A terminal emulator takes 1 ms
and would wrap rows that are already wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import islice

from attrs import evolve, field, frozen

from tservice.terminal.ansi import strip_escapes

SEQUENCES = 10_000
"""Maximum number of colour changes in a frame; a frame with more is read without colours. Each
change takes 2 us, and a program can make one for each cell.
"""
PARAMETERS = 256
"""Maximum characters of the parameters of one colour change; a multiplexer never writes more."""

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_BARE = re.compile(rb"\x1b\[[0-9;:]*m")
_SHIFT = re.compile("\x0e([^\x0f]*)\x0f?")
_LINE_DRAWING = str.maketrans("qxlkmjtuvwn", "─│┌┐└┘├┤┴┬┼")
_RULE = re.compile(r"([─━▔▁═])\1{7,}|([─━▔▁═])\2{2,} \S+(?: \S+)* [─━▔▁═]{2,}")
_EDGE = re.compile(r"[╭┌╔├╰└╚][─━═┬┴┼]{2,}.*[╮┐╗┤╯┘╝]")
_BORDERS = "│┃║"
_INDENT = _BORDERS + " "
_SCROLLBAR = re.compile(r"(?<=  )[┃█▐]$")
_DEAD = re.compile(r"Pane is dead(?: \(.*)?")


@frozen
class RunStyle:
    """Style of a run of characters, reduced to the attributes with which clients draw highlights.

    @ivar background: the SGR parameters of the background; C{""} for the default colour.
    """

    foreground: str = ""
    background: str = ""
    bold: bool = False
    dim: bool = False
    reverse: bool = False

    def apply_sgr(self, parameters: str) -> RunStyle:
        """Return this style after an SGR sequence with C{parameters}."""
        style = self
        codes = iter(parameters.replace(":", ";").split(";"))
        for code in codes:
            if code in ("38", "48"):
                # 5;n or 2;r;g;b follow
                kind = [*islice(codes, 1)]
                colour = ";".join([code, *kind, *islice(codes, 1 if kind == ["5"] else 3)])
                style = style._set_colour(code == "38", colour)
            else:
                style = style._apply_simple(code)
        return style

    def _set_colour(self, front: bool, colour: str) -> RunStyle:
        return evolve(self, foreground=colour) if front else evolve(self, background=colour)

    def _apply_simple(self, code: str) -> RunStyle:
        if code in ("", "0"):
            return RunStyle()
        if code in _SWITCHES:
            return _SWITCHES[code](self)
        if re.fullmatch(r"[39][0-79]|39", code):
            return evolve(self, foreground="" if code == "39" else code)
        if re.fullmatch(r"4[0-79]|10[0-7]", code):
            return evolve(self, background="" if code == "49" else code)
        return self


_SWITCHES: dict[str, Callable[[RunStyle], RunStyle]] = {
    "1": lambda style: evolve(style, bold=True),
    "2": lambda style: evolve(style, dim=True),
    "7": lambda style: evolve(style, reverse=True),
    "22": lambda style: evolve(style, bold=False, dim=False),
    "27": lambda style: evolve(style, reverse=False),
}
_PLAIN = RunStyle()


@frozen
class StyledRun:
    """Characters C{start} to C{stop} of a row, which all have the same C{style}."""

    start: int
    stop: int
    style: RunStyle


@frozen
class ScreenFrame:
    """Content of a pane at one moment.

    @ivar rows: the text of each row, without trailing blanks (no-break spaces stay).
    @ivar runs: for each row its styled runs in order; empty if the capture had no colours.
    @ivar cols: the pane's width in cells.
    """

    rows: tuple[str, ...]
    runs: tuple[tuple[StyledRun, ...], ...] = field(repr=False)
    cols: int

    @classmethod
    def from_capture(cls, capture: bytes, cols: int | None = None) -> ScreenFrame:
        """Parse the output of C{capture-pane -p} or C{capture-pane -p -e}.

        @param cols: the pane's width in cells; C{None} uses the width of the longest row.
        """
        rows, runs = [], []
        style = _PLAIN
        if capture.count(b"\x1b[") > SEQUENCES:
            capture = _BARE.sub(b"", capture)
        # tmux continues the style of one row in the next.
        for line in capture.decode("utf-8", "replace").replace("\r", "").split("\n"):
            text, found, style = _parse_line(line, style)
            rows.append(text.rstrip(" "))
            runs.append(found)
        if rows and not rows[-1]:
            rows.pop(), runs.pop()
        return cls(tuple(rows), tuple(runs), cols or max(map(len, rows), default=0))

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

    def get_styles(self, row: int, start: int, stop: int) -> frozenset[RunStyle]:
        """Return the styles of the characters C{start} to C{stop} of a row."""
        return frozenset(r.style for r in self.runs[row] if r.start < stop and start < r.stop)


def _parse_line(line: str, style: RunStyle) -> tuple[str, tuple[StyledRun, ...], RunStyle]:
    if "\x1b" not in line and "\x0e" not in line:
        return line, (StyledRun(0, len(line), style),) if line and style != _PLAIN else (), style
    parts = _SGR.split(_SHIFT.sub(_translate_drawing, line))
    text, runs = "", []
    for i, part in enumerate(parts):
        if i % 2:
            style = _apply_cached(style, part) if len(part) <= PARAMETERS else style
            continue
        # Links and other sequences of a capture do not affect the style.
        piece = strip_escapes(part.encode()).decode() if "\x1b" in part else part
        if piece:
            runs.append(StyledRun(len(text), len(text) + len(piece), style))
            text += piece
    return text, tuple(runs), style


@lru_cache(maxsize=1024)
def _apply_cached(style: RunStyle, parameters: str) -> RunStyle:
    return style.apply_sgr(parameters)


def _translate_drawing(shifted: re.Match[str]) -> str:
    return shifted[1].translate(_LINE_DRAWING)


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
