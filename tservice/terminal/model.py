"""The model's name as the screen shows it (interface: displayModel, wire 10: modelDetect)."""

from __future__ import annotations

import unicodedata

from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame

LENGTH = 64
"""Wire 1.1: at most 64 characters."""


def display_model(frame: Frame, rules: ScreenRules) -> str | None:
    """The name in the lowest matching one of the last rows that hold anything, or C{None}."""
    if rules.model is None:
        return None
    last = frame.filled(0, frame.bottom + 1)[-rules.model.rows :]
    found = filter(None, (rules.model.pattern.search(frame.rows[i]) for i in reversed(last)))
    return next(filter(None, (sanitised(match[1] or "") for match in found)), None)


def sanitised(text: str) -> str | None:
    """Without control and format characters, white space folded, at most 64 characters.

    Still untrusted text: whoever renders it escapes it.  C{None} when nothing is left.
    """
    kept = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return " ".join(kept.split())[:LENGTH].rstrip() or None
