"""Filter for the output of a session before C{tsctl attach} writes it to the terminal.

The multiplexer has already answered the program's queries. Another answer of this terminal would
arrive as typed text. A program in a session may only change the screen. It must not change the
clipboard, the title, permanent colours, or a keyboard protocol that hides the detach key. Terminals
have too many functions to list the dangerous ones. The filter therefore passes only sequences that
are known to draw.
"""

from __future__ import annotations

import codecs
import re

from tservice.terminal.frames.ansi import EscapeStripper

_MODES = rb"(?:[1567]|12|25|47|100[02-6]|1015|104[789]|2004|2026)"
"""Private modes that a program may set. L{RESTORE} resets every one of them."""
# Complete sequences only: a terminal obeys a control within a sequence, and then continues it.
_DRAWS = re.compile(
    rb"\x1b(?:"
    rb"\[[\d;:]*[@A-MPSTXZ^`abdefgmrsu]"  # the caret, rows, cells, colours, the region
    rb"|\[\?\d?[JK]|\[\d*[ ]q|\[!p|\[4[hl]"  # erasing, the caret's shape, a reset, insertion
    rb"|\[\?%b(?:;%b)*[hl]"
    # a link, or its end; other schemes may open files or programs
    rb"|\]8;[^;\x00-\x1f\x7f]*;(?:(?:https?://|mailto:)[^\x00-\x1f\x7f]*)?(?:\x07|\x1b\\)"
    rb"|[78=>DEHMc]|[()*+][0-9A-Z]|\#[34568])" % (_MODES, _MODES)
)
# 8-bit controls begin sequences in some terminals.
_CONTROLS = re.compile("[\x80-\x9f]")
_ENQUIRY = b"\x05"
"""Control character that makes a terminal respond, even within a sequence or a character."""

RESTORE = (
    b"\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l"
    b"\x1b[?2004l\x1b[?2026l\x1b[?1l\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?12l\x1b[?25h\x1b[4l\x1b[r\x1b>\x1b(B\x0f"
    b"\x1b]8;;\x1b\\\x1b[0m\x1b[0 q"
)
"""Escape sequences that reset every mode that output may have set: screen, mouse, paste, keypad,
caret and colours.
"""
CLEAR = RESTORE + b"\x1b[H\x1b[2J"


def is_drawing_sequence(sequence: bytes) -> bool:
    """Return true if an escape sequence does nothing but draw."""
    return _DRAWS.fullmatch(sequence) is not None


class OutputFilter:
    """Filter for a stream of output that arrives in chunks."""

    def __init__(self) -> None:
        self._stripper = EscapeStripper(is_drawing_sequence)
        # A byte that is not UTF-8 may be a control too: it becomes U+FFFD.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> bytes:
        """Return the part of C{data} that may be written to the terminal.

        An incomplete character or sequence at the end is kept for the next call.
        """
        found = self._decoder.decode(self._stripper.feed(data.replace(_ENQUIRY, b"")))
        return _CONTROLS.sub("", found).encode()
