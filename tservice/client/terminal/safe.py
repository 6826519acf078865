"""Removal of dangerous characters from text for a terminal. Names, models and screens come from
programs.
"""

from __future__ import annotations

import re

from tservice.terminal.frames.ansi import strip_escapes

REPLACEMENT = "�"

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
# Marks that change the direction of writing can make a text read as another one.
_TURNING = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[{_CONTROLS}{_TURNING}]")
_UNSAFE_IN_LINE = re.compile(f"[\t\n{_CONTROLS}{_TURNING}]")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f{_TURNING}]")


def safe_line(text: str) -> str:
    """Return C{text} as one line without escape sequences. Other control characters become C{�}."""
    return _UNSAFE_IN_LINE.sub(REPLACEMENT, _strip_escapes(text))


def safe_text(text: str) -> str:
    """Return C{text} as L{safe_line} does, but keep lines and tabs. CR LF becomes LF."""
    return _UNSAFE.sub(REPLACEMENT, _strip_escapes(text).replace("\r\n", "\n"))


def safe_json(text: str) -> str:
    """Return JSON with those characters escaped that JSON permits but terminals interpret."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _strip_escapes(text: str) -> str:
    if "\x1b" not in text:
        return text
    return strip_escapes(text.encode("utf-8", "replace")).decode("utf-8", "replace")
