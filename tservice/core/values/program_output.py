"""Plain text of what programs print for a terminal."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # operating system command
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)"  # device control and other strings
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # control sequence
    r"|\x1b[ -/]*[0-~]?"
)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories of characters that are not part of a plain line."""


def clean_program_output(data: bytes) -> str:
    """Return a program's output as plain text.

    Escape sequences, control characters and invisible format characters are removed.  A line that
    was overwritten by a carriage return keeps its last state.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"))
    return "\n".join(_clean_line(line) for line in text.split("\n")).strip("\n")


def _clean_line(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    last = parts[-1] if parts else ""
    return "".join(
        sign for sign in last if sign == "\t" or unicodedata.category(sign) not in _HIDDEN
    ).rstrip()
