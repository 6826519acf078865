"""Character styles (SGR) that continue from one captured row to the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

SGR = re.compile(rb"\x1b\[([0-9;:]{0,256})m")
"""Pattern of an SGR sequence. tmux writes fewer parameters, but a substitute for tmux may send
thousands of digits.
"""
_LINK = re.compile(rb"\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)")
_FONT = re.compile(rb"\x1b\(([0B])")

RESET = b"\x1b[0m"
DRAWING = b"\x1b(0"
LETTERS = b"\x1b(B"
END_LINK = b"\x1b]8;;\x1b\\"

_SET = {1: "bold", 2: "dim", 3: "italic", 4: "under", 5: "blink", 6: "blink", 7: "reverse"}
_SET |= {8: "hidden", 9: "strike", 21: "under", 53: "over"}
_CLEAR = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("under",),
    25: ("blink",),
    27: ("reverse",),
    28: ("hidden",),
    29: ("strike",),
    39: ("fg",),
    49: ("bg",),
    55: ("over",),
    59: ("colour",),
}
_COLOUR = {b"38;2;": 4, b"38;5;": 2, b"48;2;": 4, b"48;5;": 2}
"""Number of separators in a sequence that changes one colour and nothing else, by its prefix."""
_EXTENDED = {38: "fg", 48: "bg", 58: "colour"}


class SgrState:
    """Current style, stored as the SGR parameters that set it.

    Each property has at most one entry, so a stream of any length takes little memory.
    """

    def __init__(self) -> None:
        self._parts: dict[str, bytes] = {}
        self._link = b""
        self._drawing = False

    def feed(self, row: bytes) -> None:
        """Apply the style changes in C{row}."""
        if b"\x1b" not in row:
            return
        for params in _drop_overridden(SGR.findall(row)):
            self._apply_parameters(params)
        for match in _LINK.finditer(row):
            self._link = match[0] if match[1] else b""
        fonts = _FONT.findall(row)
        if fonts:
            self._drawing = fonts[-1] == b"0"

    def build_opening(self) -> bytes:
        """Return the sequences that set this style in a terminal without any style."""
        style = b"\x1b[" + b";".join(self._parts.values()) + b"m" if self._parts else b""
        return style + self._link + (DRAWING if self._drawing else b"")

    def build_closing(self) -> bytes:
        """Return the sequences that reset this style."""
        link = END_LINK if self._link else b""
        return (RESET if self._parts else b"") + link + (LETTERS if self._drawing else b"")

    def _apply_parameters(self, params: bytes) -> None:
        words = iter(params.split(b";"))
        for word in words:
            code = int(word.split(b":")[0] or 0)
            if code == 0:
                self._parts.clear()
            elif code in _EXTENDED:
                self._parts[_EXTENDED[code]] = _read_colour(word, words)
            else:
                self._apply_simple(code, word)

    def _apply_simple(self, code: int, word: bytes) -> None:
        if word == b"4:0":
            code = 24
        for name in _CLEAR.get(code, ()):
            self._parts.pop(name, None)
        if code in _SET:
            self._parts[_SET[code]] = word
        elif 30 <= code <= 37 or 90 <= code <= 97:
            self._parts["fg"] = word
        elif 40 <= code <= 47 or 100 <= code <= 107:
            self._parts["bg"] = word


def _read_colour(word: bytes, rest: Iterator[bytes]) -> bytes:
    """Return all parameters of one colour: C{38;5;n}, C{38;2;r;g;b} or a form with colons."""
    if b":" in word:
        return word
    kind = next(rest, b"")
    count = {b"5": 1, b"2": 3}.get(kind, 0)
    return b";".join([word, kind, *(next(rest, b"0") for _ in range(count))])


def _drop_overridden(changes: list[bytes]) -> list[bytes]:
    """Return the C{changes} that are still in effect after the last one.

    A repeated change replaces its earlier occurrence, and a colour replaces the previous colour of
    the same kind. A program can make a change for each cell, each in a different colour.
    """
    kept: list[bytes] = []
    coloured: set[bytes] = set()
    for params in dict.fromkeys(reversed(changes)):
        if params.count(b";") == _COLOUR.get(params[:5]):
            if params[:2] in coloured:
                continue
            coloured.add(params[:2])
        kept.append(params)
    return kept[::-1]


def make_self_contained(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each row with a sequence that sets its initial style, and a reset at its end.

    In a capture, a style continues over row ends. A terminal that scrolls with an active background
    colour paints the new row with it. A text that is cut at a row start would lose its style.
    """
    style = SgrState()
    for row in rows:
        opening = style.build_opening()
        style.feed(row)
        yield opening + row + style.build_closing()


def make_capture_self_contained(lines: Sequence[bytes], history: int) -> Iterator[bytes]:
    """Yield the rows of a capture with complete styles, as L{make_self_contained} does.

    @param history: the number of history rows; the screen after them begins without a style.
    """
    return chain(make_self_contained(lines[:history]), make_self_contained(lines[history:]))
