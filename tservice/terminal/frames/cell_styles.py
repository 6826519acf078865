"""Styles of the characters of a captured frame, read by a pyte screen.

The rows of a capture are finished and contain no sequences but SGR. So the screen only counts
characters: drawn by pyte itself, a row would wrap, and lose its text after a variation selector.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import pyte

from tservice.terminal.frames.ansi import EscapeStripper, strip_escapes
from tservice.terminal.frames.sgr import SGR

STYLE_BYTES = 64 * 1024
"""Maximum bytes of the style changes in a frame; a frame with more is read without styles. pyte
reads 1 KB in 0.5 to 1.3 ms, and a program can make a change for each cell.
"""

_COLON_FORM = re.compile(rb"[0-9]*:[0-9:]*")
"""Pattern of the shape of an underline, the only parameter that tmux writes with colons."""
_DEFAULT_FONT = b"10"
_UNDRAWN = dict.fromkeys(map(ord, "\0\x7f\x9b\x9d"), "\ufffd")
"""Controls that pyte does not draw, although they are characters of the row."""
_EXTENDED = (38, 48, 58)
_UNDERLINE_COLOUR = 58


class CellStyle(NamedTuple):
    """Style of a character, reduced to the attributes with which clients draw highlights."""

    foreground: str = "default"
    background: str = "default"
    bold: bool = False
    dim: bool = False
    reverse: bool = False


_DEFAULT_STYLE = CellStyle()
_RESETS = ((), (0,))


class _RowStream(pyte.Stream):
    """Parser of text, line feeds and SGR sequences."""

    basic = {pyte.control.LF: "linefeed"}
    csi = {pyte.escape.SGR: "select_graphic_rendition"}


class _StyleScreen(pyte.Screen):
    """Screen that keeps the style of each character that is drawn.

    @ivar styles: for each row the styles of its characters.
    """

    def __init__(self) -> None:
        self.styles: list[list[CellStyle]] = [[]]
        self._style = CellStyle()
        super().__init__(columns=1, lines=1)

    def draw(self, data: str) -> None:
        self.styles[-1] += [self._style] * len(data)

    def linefeed(self) -> None:
        self.styles.append([])

    def select_graphic_rendition(self, *attrs: int) -> None:
        if attrs in _RESETS:
            # The shortest change, of which a frame can have the most.
            self.cursor.attrs, self._style = self.default_char, _DEFAULT_STYLE
            return
        known: list[int] = []
        dim = self._style.dim
        codes = iter(attrs)
        for code in codes:
            group = [code]
            if code in _EXTENDED:
                # 5;n or 2;r;g;b follow
                group += islice(codes, 1)
                group += islice(codes, 1 if group[1:] == [5] else 3)
            elif code in (0, 2, 22):
                # pyte does not know dim text.
                dim = code == 2
            if code != _UNDERLINE_COLOUR:
                known += group
        if known:
            super().select_graphic_rendition(*known)
        now = self.cursor.attrs
        self._style = CellStyle(now.fg, now.bg, now.bold, dim, now.reverse)


def read_styles(capture: bytes) -> Sequence[Sequence[CellStyle]]:
    """Return the style of each character of a capture, by row.

    tmux continues the style of one row in the next.
    """
    styled, plain = EscapeStripper(_is_sgr).feed(capture), strip_escapes(capture)
    if len(styled) - len(plain) > STYLE_BYTES:
        styled = plain
    styled = SGR.sub(lambda found: _COLON_FORM.sub(_DEFAULT_FONT, found[0]), styled)
    text = styled.decode("utf-8", "replace").translate(_UNDRAWN)
    screen = _StyleScreen()
    _RowStream(screen, strict=False).feed(text)
    return screen.styles


def _is_sgr(sequence: bytes) -> bool:
    return SGR.fullmatch(sequence) is not None
