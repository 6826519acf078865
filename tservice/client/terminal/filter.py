"""A session's output on its way to the terminal that C{tsctl attach} runs in.

The multiplexer is the program's terminal and has answered its questions already: an answer of this
one would arrive as typed text.  And a program in a session must reach the screen alone: no
clipboard, no title, no colours that stay, no keyboard protocol that hides the detach key.
"""

from __future__ import annotations

import re

from tservice.terminal.ansi import Stripper

# Device attributes, status and parameter reports, window operations; then what is so with a prefix
# only: XTVERSION, the kitty keyboard, modifyOtherKeys and DECRQM.
_UNWANTED = re.compile(
    rb"\x1b\[(?:[^\x40-\x7e]*[cntx]|>[^\x40-\x7e]*[qm]|[<=>?][^\x40-\x7e]*u|[^\x40-\x7e]*\$p)"
)
_LINK = b"\x1b]8;"
_STRINGS = b"]PX^_k"
_IDENTIFY = b"\x1bZ"
# ENQ asks for an answer; 8-bit controls begin sequences in some terminals, also as UTF-8.
_CONTROLS = re.compile(rb"\x05|\xc2[\x80-\x9f]")
_CONTROL_OPENS = b"\xc2"

RESTORE = (
    b"\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l"
    b"\x1b[?2004l\x1b[?2026l\x1b[?1l\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[4l\x1b[r\x1b>\x1b(B\x0f"
    b"\x1b]8;;\x1b\\\x1b[0m\x1b[0 q"
)
"""Takes back every mode that output may have set: screen, mouse, paste, keypad, caret, colours."""
CLEAR = RESTORE + b"\x1b[H\x1b[2J"


def stays(sequence: bytes) -> bool:
    """Whether an escape sequence only draws."""
    if sequence[1:2] == b"[":
        return not _UNWANTED.match(sequence)
    if sequence[1:2] and sequence[1:2] in _STRINGS:
        return sequence.startswith(_LINK)
    return sequence != _IDENTIFY


class Filter:
    """Filters a stream chunk by chunk."""

    def __init__(self) -> None:
        self._stripper = Stripper(stays)
        self._open = b""

    def feed(self, data: bytes) -> bytes:
        """What of C{data} may be drawn."""
        found = self._open + self._stripper.feed(data)
        self._open = _CONTROL_OPENS if found.endswith(_CONTROL_OPENS) else b""
        return _CONTROLS.sub(b"", found[: len(found) - len(self._open)])
