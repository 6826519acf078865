"""Finding a text in a pane's history."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

TEXT_LIMIT = 1000
"""Characters of a line that a match shows."""

BEFORE = 200
"""Of these, how many stand before a match in a line that is longer."""


@frozen
class Occurrence:
    """One occurrence.

    @ivar line: 0-based line of the history, the screen behind it (protocol-search).
    @ivar text: the line; of a longer one L{TEXT_LIMIT} characters with the match in them.
    @ivar offset: where in the line it begins, in characters.
    @ivar start: where in the line C{text} begins; C{None}: with the line.
    """

    line: int
    text: str
    offset: int
    start: int | None = None


def search(
    lines: Iterable[str], needle: str, limit: int, *, nocase: bool = False
) -> tuple[list[Occurrence], bool]:
    """The first C{limit} occurrences, oldest line first, and whether there are more.

    @param needle: a literal, at least one character.
    """
    pattern = re.compile(re.escape(needle), re.IGNORECASE if nocase else 0)
    folded = needle.casefold() if nocase else needle
    found: list[Occurrence] = []
    for line, text in enumerate(lines):
        # Without regard to case the expression tries each place anew: 0.4 s for a MB of one letter.
        if folded not in (text.casefold() if nocase else text):
            continue
        for match in pattern.finditer(text):
            if len(found) == limit:
                return found, True
            found.append(_occurrence(line, text, match))
    return found, False


def _occurrence(line: int, text: str, match: re.Match[str]) -> Occurrence:
    start = 0
    if match.end() > TEXT_LIMIT:
        start = max(0, min(match.start() - BEFORE, len(text) - TEXT_LIMIT))
    return Occurrence(line, text[start : start + TEXT_LIMIT], match.start(), start or None)
