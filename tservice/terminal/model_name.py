"""Detection of the model's name on the screen (protocol-session, protocol-clis: modelDetect)."""

from __future__ import annotations

import re
import unicodedata

from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ModelRule, ScreenRules

_SIZE = re.compile(r"(?P<count>\d{1,7}(?:\.\d{1,3})?)(?P<unit>[kKmM]?)", re.ASCII)
_UNITS = {"": 1, "k": 1000, "m": 1_000_000}

LENGTH = 64
"""Maximum characters of a model's name (protocol-session)."""


def find_displayed_model(frame: ScreenFrame, rules: ScreenRules) -> str | None:
    """Return the model's name from the lowest matching row among the last filled rows.

    The result is C{None} if no row matches.
    """
    if rules.model is None:
        return None
    last = frame.find_filled_rows(0, frame.last_row + 1)[-rules.model.rows :]
    names = (_find_name(frame, at, rules.model) for at in reversed(last))
    return next(filter(None, map(sanitize_text, names)), None)


def find_displayed_window(frame: ScreenFrame, rules: ScreenRules) -> int | None:
    """Return the size of the model's context window, in tokens, as the screen shows it.

    The result is C{None} if no row of L{find_displayed_model} shows it.
    """
    detect = rules.model
    if detect is None or detect.window is None:
        return None
    for at in frame.find_filled_rows(0, frame.last_row + 1)[-detect.rows :][::-1]:
        found = detect.window.search(frame.rows[at])
        size = _SIZE.fullmatch(found[1]) if found is not None else None
        if size is not None:
            return int(float(size["count"]) * _UNITS[size["unit"].lower()])
    return None


def _find_name(frame: ScreenFrame, at: int, detect: ModelRule) -> str:
    match = detect.pattern.search(frame.rows[at])
    if match is None or not match[1]:
        return ""
    start, stop = match.span(1)
    return frame.rows[at][
        start : _find_style_end(frame, at, start, stop) if detect.one_style else stop
    ]


def _find_style_end(frame: ScreenFrame, at: int, start: int, stop: int) -> int:
    """Return the column where the style of the word at C{start} ends, at most C{stop}."""
    style, end = frame.get_styles(at, start, start + 1), start
    for word in re.finditer(r"\S+", frame.rows[at][start:stop]):
        if frame.get_styles(at, start + word.start(), start + word.end()) != style:
            break
        end = start + word.end()
    return end


def sanitize_text(text: str, length: int = LENGTH) -> str | None:
    """Return C{text} without control and format characters, at most C{length} characters long.

    White space is folded. The result is C{None} if nothing is left. It is still untrusted: escape
    it when rendering.
    """
    kept = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return " ".join(kept.split())[:length].rstrip() or None
