"""Search for a text in the lines of a pane's history and screen."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

TEXT_LIMIT = 1000
"""Maximum number of characters of the matching line that a result contains."""

BEFORE = 200
"""Number of characters before the match that the result of a longer line contains."""


@frozen
class TextOccurrence:
    """Occurrence of a text in a line.

    @ivar line: 0-based index of the line; the lines of the screen follow those of the history
        (protocol-search).
    @ivar text: the line; of a longer one L{TEXT_LIMIT} characters that include the match.
    @ivar offset: the position of the match in the whole line, in characters.
    @ivar start: the position of C{text} in the line, in characters; C{None} if C{text} begins with
        the line.
    """

    line: int
    text: str
    offset: int
    start: int | None = None


def search_lines(
    lines: Iterable[str], needle: str, limit: int, *, nocase: bool = False
) -> tuple[list[TextOccurrence], bool]:
    """Return the first C{limit} occurrences, oldest line first, and true if there are more.

    @param needle: the literal text to find, at least one character.
    @param nocase: ignore upper and lower case.
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
