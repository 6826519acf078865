"""Search for a text in a pane's history."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

TEXT_LIMIT = 1000
"""Maximum characters of a line that a match shows."""

BEFORE = 200
"""Number of these characters before the match in a longer line."""


@frozen
class TextOccurrence:
    """Occurrence of a text.

    @ivar line: 0-based line of the history, followed by the screen (protocol-search).
    @ivar text: the line; of a longer one L{TEXT_LIMIT} characters with the match in them.
    @ivar offset: the position of the match in the line, in characters.
    @ivar start: the position of C{text} in the line; C{None} if it is the start of the line.
    """

    line: int
    text: str
    offset: int
    start: int | None = None


def search_lines(
    lines: Iterable[str], needle: str, limit: int, *, nocase: bool = False
) -> tuple[list[TextOccurrence], bool]:
    """Return the first C{limit} occurrences, oldest line first, and true if there are more.

    @param needle: a literal, at least one character.
    """
    pattern = re.compile(re.escape(needle), re.IGNORECASE if nocase else 0)
    folded = needle.casefold() if nocase else needle
    found: list[TextOccurrence] = []
    for line, text in enumerate(lines):
        # The case-insensitive expression retries at each position: 0.4 s for a MB of one letter.
        if folded not in (text.casefold() if nocase else text):
            continue
        for match in pattern.finditer(text):
            if len(found) == limit:
                return found, True
            found.append(_make_occurrence(line, text, match))
    return found, False


def _make_occurrence(line: int, text: str, match: re.Match[str]) -> TextOccurrence:
    start = 0
    if match.end() > TEXT_LIMIT:
        start = max(0, min(match.start() - BEFORE, len(text) - TEXT_LIMIT))
    return TextOccurrence(line, text[start : start + TEXT_LIMIT], match.start(), start or None)
