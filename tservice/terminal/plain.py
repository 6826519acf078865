"""The text of a captured row, without its styles."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][ -~]|[ -/]*[0-~])"
)
_SHIFTED = re.compile(rb"\x0e([^\x0f]*)\x0f?")

_DRAWN = dict(
    zip(
        b"`afgijklmnopqrstuvwxyz{|}~",
        "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·",
        strict=True,
    )
)


def plain(row: bytes) -> str:
    """C{row} as text: escape sequences gone, line drawing spelled in Unicode, no blanks behind."""
    if b"\x1b" in row:
        row = _ESCAPES.sub(b"", row)
    if b"\x0e" in row:
        row = _SHIFTED.sub(_draw, row)
    return row.decode("utf-8", "replace").rstrip(" ")


def _draw(match: re.Match[bytes]) -> bytes:
    return "".join(_DRAWN.get(byte, chr(byte)) for byte in match[1]).encode()
