"""Queries of programs for the modes of their terminal (DECRQM), and the replies.

tmux stores most of the modes. From version 3.7 on, tmux replies to queries for all of them, and
version 3.6 replies for a few. For older versions, this service finds the query in the pane's output
and types the reply.
"""

from __future__ import annotations

import re
from collections.abc import Container

from attrs import frozen

MOST = 64
"""Maximum number of pending queries of a pane. Further queries get no reply."""

LOOK_BACK = 64 * 1024
"""Bytes of output before a query that are searched for a mode that tmux does not store."""

_UNKNOWN, _SET, _RESET, _NEVER = 0, 1, 2, 4

_FLAGS = {
    1: "keypad_cursor_flag",
    6: "origin_flag",
    7: "wrap_flag",
    25: "cursor_flag",
    47: "alternate_on",
    1000: "mouse_standard_flag",
    1002: "mouse_button_flag",
    1003: "mouse_all_flag",
    1005: "mouse_utf8_flag",
    1006: "mouse_sgr_flag",
    1047: "alternate_on",
    1049: "alternate_on",
}
_WATCHED = frozenset({1004, 2004})
"""Modes that tmux stores but does not report. The service follows them in the output."""
_PASSED_ON = frozenset({12, 2026})
"""Modes that only concern the viewers of a pane: a blinking caret and synchronized output."""
_COLUMNS_OF_132 = 3
_INSERT = 4

_FULL: tuple[int, int] = (3, 7)
_PARTS = {(3, 6): frozenset({12, 1004, 1006, 2004, 2031})}

_QUESTION = re.compile(rb"\x1b\[(\??)([0-9]{1,5})\$p")
_OPEN = re.compile(rb"\x1b(?:\[(?:\??[0-9]{0,5}\$?)?)?\Z")
_LONGEST = 10
_CHANGE = re.compile(rb"\x1b\[(\??)([0-9;]{1,64})([hl])|\x1bc|\x1b\[!p")


@frozen
class ModeQuery:
    """Query of a program for the state of one terminal mode.

    @ivar private: true for a DEC private mode, false for an ANSI mode.
    @ivar at: offset of the query's end, in the piece of output that contained it or in the log.
    """

    private: bool
    mode: int
    at: int


class ModeQueryDetector:
    """Detector of mode queries in a stream. Data without queries is searched as fast as
    C{bytes.find}.
    """

    def __init__(self) -> None:
        self._open = b""

    def feed(self, data: bytes) -> list[ModeQuery]:
        """Process the next piece of the stream and return the queries that end in it.

        The offset of each query refers to C{data}.
        """
        text = self._open + data if self._open else data
        found: list[ModeQuery] = []
        # Searching for a single byte takes a fifth of the time.
        if b"$" in text and b"$p" in text:
            skipped = len(text) - len(data)
            for match in _QUESTION.finditer(text):
                found.append(ModeQuery(bool(match[1]), int(match[2]), match.end() - skipped))
                if len(found) == MOST:
                    break
        end = text[-_LONGEST:]
        last = _OPEN.search(end) if b"\x1b" in end else None
        self._open = b"" if last is None else last[0]
        return found


def needs_reply(question: ModeQuery, version: tuple[int, int]) -> bool:
    """Return true if this service must reply to the query, because tmux of that version does
    not.
    """
    if version >= _FULL:
        return False
    return not question.private or question.mode not in _PARTS.get(version, ())


def build_mode_reply(
    question: ModeQuery,
    flags: Container[str],
    watched: Container[int],
    before: bytes,
    since: bytes,
) -> bytes:
    """Return the bytes of the reply to a mode query.

    @param flags: tmux's names of the modes that are set after all output in C{since}.
    @param watched: numbers of the set modes that the service follows in the output, at the same
        time.
    @param before: the end of the output before the query.
    @param since: the output since the query.
    """
    value = _get_mode_value(question, flags, watched, before, since)
    mark = b"?" if question.private else b""
    return b"\x1b[%b%d;%d$y" % (mark, question.mode, value)


def _get_mode_value(
    question: ModeQuery,
    flags: Container[str],
    watched: Container[int],
    before: bytes,
    since: bytes,
) -> int:
    mode = question.mode
    if not question.private:
        if mode != _INSERT:
            return _UNKNOWN
        is_set = "insert_flag" in flags
    elif mode in _PASSED_ON:
        changes = _find_changes(question, before)
        return _SET if changes and changes[-1] else _RESET
    elif mode in _FLAGS:
        is_set = _FLAGS[mode] in flags
    elif mode in _WATCHED:
        is_set = mode in watched
    else:
        return _NEVER if mode == _COLUMNS_OF_132 else _UNKNOWN
    # A program that asks for a mode and then changes it had the other value when it asked.
    changes = _find_changes(question, since)
    if changes:
        is_set = not changes[0]
    return _SET if is_set else _RESET


def _find_changes(question: ModeQuery, printed: bytes) -> list[bool]:
    """Return the values that C{printed} gives to the queried mode, in order. True means set."""
    found: list[bool] = []
    name = b"%d" % question.mode
    for match in _CHANGE.finditer(printed):
        if match[3] is None:
            found.append(question.private and question.mode in (7, 25))
        elif bool(match[1]) == question.private and name in match[2].split(b";"):
            found.append(match[3] == b"h")
    return found
