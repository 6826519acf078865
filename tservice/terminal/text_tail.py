"""Truncation of terminal text from its start."""

from __future__ import annotations

import re

NEAR = 4096
"""Maximum distance, in characters, of a row start at which the tail begins instead."""

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[^\[])")
_LOOK_BACK = 64


def keep_tail(text: str, size: int) -> str:
    """Return at most the last C{size} characters of C{text}.

    The result begins at a row start if there is one within L{NEAR} characters. Otherwise, an escape
    sequence that the cut would split is left out completely.
    """
    if len(text) <= size:
        return text
    cut = len(text) - size
    start = text.find("\n", cut - 1, cut + NEAR) + 1
    if start:
        return text[start:]
    begun = text.rfind("\x1b", max(0, cut - _LOOK_BACK), cut)
    escape = _ESCAPE.match(text, begun) if begun >= 0 else None
    return text[max(cut, escape.end()) if escape else cut :]
