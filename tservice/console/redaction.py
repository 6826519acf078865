"""Removal of secrets and names from recorded screens.

Each character is replaced by one C{x}, so that the layout stays.

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

SHORTEST_NAME = 4
"""Minimum length of a name that is replaced: shorter ones are parts of too many words."""
SHORTEST = 6
"""Minimum length of a value that counts as a secret; shorter ones are parts of ordinary words."""

_ESCAPE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_PATTERNS = (
    re.compile(r"\b(?:sk|pk|rk|key|ghp|gho|ghs|ghu|glpat|npm|pypi|hf|xai|gsk)[-_][\w.-]{12,}"),
    re.compile(r"\bgithub_pat_\w{12,}"),
    re.compile(r"\bxox[a-z]-[\w-]{10,}"),
    re.compile(r"\bAIza[\w-]{20,}"),
    re.compile(r"\bAKIA[A-Z0-9]{12,}"),
    re.compile(r"\beyJ[\w-]{10,}(?:\.[\w-]+)*"),
    re.compile(r"(?<=[Bb]earer )[\w.~+/-]{8,}=*"),
    re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"\b[0-9A-Fa-f]{32,}\b"),
    re.compile(r"\b[A-Z0-9]{4}-[A-Z0-9]{4}\b"),
    re.compile(r"(?<=[?&])[\w.-]+=[^\s&\"'│┃]{8,}"),
)
"""Keys of providers, tokens, e-mail addresses, codes of a sign-in and parameters of URLs."""
_CONTINUED = re.compile(r"[\s│┃|]*([\w.~+/=-]+)")
_BLANK = re.compile(r"[\s│┃║]")


@frozen
class _Glyph:
    """Character of a screen, and its index in the captured text."""

    text: str
    at: int


def find_secret_values(environ: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are replaced everywhere, longest first.

    @param environ: variables whose names sound like a secret are included.
    @param names: further texts, such as the user's name and home folder.
    """
    secret = {value for name, value in environ.items() if _SECRET_NAME.search(name)}
    found = {value for value in secret if len(value) >= SHORTEST}
    found |= {name for name in names if len(name) >= SHORTEST_NAME}
    return tuple(sorted(found, key=len, reverse=True))


def redact_capture(capture: str, values: Iterable[str]) -> str:
    """Return a capture with escape sequences in which secrets are replaced.

    @param values: as from L{find_secret_values}. They are found across the ends of rows as well.
    """
    rows = list(_split_rows(capture))
    hidden = set(_find_values([glyph for row in rows for glyph in row], values))
    hidden |= set(_find_patterns(rows))
    return "".join("x" if at in hidden else sign for at, sign in enumerate(capture))


def _split_rows(capture: str) -> Iterator[list[_Glyph]]:
    row: list[_Glyph] = []
    at = 0
    while at < len(capture):
        escape = _ESCAPE.match(capture, at)
        if escape is not None:
            at = escape.end()
            continue
        if capture[at] == "\n":
            yield row
            row = []
        else:
            row.append(_Glyph(capture[at], at))
        at += 1
    yield row


def _find_values(glyphs: list[_Glyph], values: Iterable[str]) -> Iterator[int]:
    """Yield the indices of values, which borders and ends of rows may interrupt."""
    filled = [glyph for glyph in glyphs if not _BLANK.fullmatch(glyph.text)]
    text = "".join(glyph.text for glyph in filled)
    for value in values:
        wanted = _BLANK.sub("", value)
        start = text.find(wanted) if wanted else -1
        while start >= 0:
            yield from (glyph.at for glyph in filled[start : start + len(wanted)])
            start = text.find(wanted, start + len(wanted))


def _find_patterns(rows: list[list[_Glyph]]) -> Iterator[int]:
    for number, row in enumerate(rows):
        text = "".join(glyph.text for glyph in row)
        ends = len(text.rstrip(" │┃║"))
        for pattern in _PATTERNS:
            for found in pattern.finditer(text):
                yield from (glyph.at for glyph in row[found.start() : found.end()])
                if found.end() == ends:
                    yield from _find_continuation(rows[number + 1 : number + 2])


def _find_continuation(rows: list[list[_Glyph]]) -> Iterator[int]:
    """Yield the indices of a secret's rest, which may stand in the next row."""
    for row in rows:
        found = _CONTINUED.match("".join(glyph.text for glyph in row))
        if found is not None:
            yield from (glyph.at for glyph in row[found.start(1) : found.end(1)])
