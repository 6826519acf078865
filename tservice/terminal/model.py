"""Name of the model as the screen shows it (protocol-session, protocol-clis: modelDetect)."""

from __future__ import annotations

import re
import unicodedata

from tservice.terminal.rules import ModelRule, ScreenRules
from tservice.terminal.screen import Frame

LENGTH = 64
"""Maximum characters of the name (protocol-session)."""


def display_model(frame: Frame, rules: ScreenRules) -> str | None:
    """Return the name in the lowest matching one of the last filled rows, or C{None}."""
    if rules.model is None:
        return None
    last = frame.filled(0, frame.bottom + 1)[-rules.model.rows :]
    names = (_name(frame, at, rules.model) for at in reversed(last))
    return next(filter(None, map(sanitised, names)), None)


def _name(frame: Frame, at: int, detect: ModelRule) -> str:
    match = detect.pattern.search(frame.rows[at])
    if match is None or not match[1]:
        return ""
    start, stop = match.span(1)
    return frame.rows[at][start : _one_style(frame, at, start, stop) if detect.one_style else stop]


def _one_style(frame: Frame, at: int, start: int, stop: int) -> int:
    """Return the end of the words that are drawn like the one at C{start}."""
    style, end = frame.style_at(at, start, start + 1), start
    for word in re.finditer(r"\S+", frame.rows[at][start:stop]):
        if frame.style_at(at, start + word.start(), start + word.end()) != style:
            break
        end = start + word.end()
    return end


def sanitised(text: str, length: int = LENGTH) -> str | None:
    """Return a text without control and format characters, with white space folded, and truncated
    to C{length}.

    The result is still untrusted: escape it when rendering. It is C{None} if nothing is left.
    """
    kept = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return " ".join(kept.split())[:length].rstrip() or None
