"""Conversion of a captured row to text without styles."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][ -~]|[ -/]*[0-~])"
)
_DRAWING = re.compile(rb"\x1b\(0((?:(?!\x1b\(B).)*)(?:\x1b\(B)?", re.DOTALL)

_DRAWN = dict(
    zip(
        b"`afgijklmnopqrstuvwxyz{|}~",
        "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·",
        strict=True,
    )
)


def plain_text(row: bytes) -> str:
    """Return C{row} as text without escape sequences and trailing blanks.

    Line drawing characters become Unicode.
    """
    return plain_bytes(row).decode("utf-8", "replace").rstrip(" ")


def plain_bytes(row: bytes) -> bytes:
    """Return C{row} as UTF-8 without escape sequences, but with its trailing blanks."""
    if b"\x1b(0" in row:
        row = _DRAWING.sub(_draw_lines, row)
    return _ESCAPES.sub(b"", row) if b"\x1b" in row else row


def _draw_lines(match: re.Match[bytes]) -> bytes:
    text = _ESCAPES.sub(b"", match[1])
    return "".join(_DRAWN.get(byte, chr(byte)) for byte in text).encode()
