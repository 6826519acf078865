"""Widths, in cells, that a pane's tmux gives to characters on which systems differ.

Emoji are added each year, and a few symbols became wide. tmux asks its C library or utf8proc, so
the version of tmux does not settle the width. Before 3.4, tmux drops a character that the library
does not know: the character takes no cell and is not in the grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tservice.mux.interface import GlyphRun

DOUBTFUL = (
    (0x2630, 0x2637),
    (0x268A, 0x268F),
    (0x3248, 0x324F),
    (0x4DC0, 0x4DFF),
    (0x1F6D0, 0x1F6FF),
    (0x1F7D8, 0x1F7FF),
    (0x1F90C, 0x1F9FF),
    (0x1FA70, 0x1FAFF),
)
"""Ranges of characters whose width is queried, by first and last character. They are symbols that
became wide, and the blocks to which emoji are added.
"""

CHARACTERS = tuple(chr(code) for first, last in DOUBTFUL for code in range(first, last + 1))

_WIDTHS = re.compile(rb"[0-9]*")


def parse_known_characters(lines: Sequence[bytes]) -> tuple[str, ...]:
    """Return the characters that tmux knows, from its output for all L{CHARACTERS}.

    tmux prints a known character unchanged, and an unknown one as octal escapes.
    """
    _, _, text = b"".join(lines).partition(b" ")
    shown = set(text.strip(b'"').decode("utf-8", "replace").split(","))
    return tuple(character for character in CHARACTERS if character in shown)


def parse_widths(known: Sequence[str], lines: Sequence[bytes]) -> tuple[GlyphRun, ...]:
    """Return the widths of all L{CHARACTERS} as runs. The result is empty if the answer is invalid.

    @param known: the characters that tmux knows; the others have no cells.
    @param lines: the lines of tmux's answer to the query for widths.
    """
    text = b"".join(lines)
    if not _WIDTHS.fullmatch(text) or len(text) != len(known):
        return ()
    widths = dict(zip(known, text.decode(), strict=True))
    return group_runs((ord(each), int(widths.get(each, "0"))) for each in CHARACTERS)


def group_runs(widths: Iterable[tuple[int, int]]) -> tuple[GlyphRun, ...]:
    """Group characters into runs of equal width.

    @param widths: pairs of code point and number of cells, by ascending code point.
    """
    found: list[GlyphRun] = []
    for code, width in widths:
        if found and found[-1][1] == code - 1 and found[-1][2] == width:
            found[-1] = (found[-1][0], code, width)
        else:
            found.append((code, code, width))
    return tuple(found)
