"""Finding a text in a pane's history."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

TEXT_LIMIT = 1000
"""Characters of a row that a match shows."""


@frozen
class Occurrence:
    """One occurrence.

    @ivar line: 0-based row of the history, the screen behind it (protocol-search).
    @ivar text: the row, at most L{TEXT_LIMIT} characters from its start.
    @ivar offset: where in the row it begins, in characters.
    """

    line: int
    text: str
    offset: int


def search(
    rows: Iterable[str], needle: str, limit: int, *, nocase: bool = False
) -> tuple[list[Occurrence], bool]:
    """The first C{limit} occurrences, oldest row first, and whether there are more.

    @param needle: a literal, at least one character.
    """
    pattern = re.compile(re.escape(needle), re.IGNORECASE if nocase else 0)
    folded = needle.casefold() if nocase else needle
    found: list[Occurrence] = []
    for line, text in enumerate(rows):
        # Without regard to case the expression tries each place anew: 0.4 s for a MB of one letter.
        if folded not in (text.casefold() if nocase else text):
            continue
        for match in pattern.finditer(text):
            if len(found) == limit:
                return found, True
            found.append(Occurrence(line, text[:TEXT_LIMIT], match.start()))
    return found, False
