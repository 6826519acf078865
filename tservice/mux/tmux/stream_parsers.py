"""Parsers for a pane's output stream: control messages of the keeper, titles and modes.

L{tservice.mux.tmux.keeper} describes the messages. The parsers search each piece of the stream as
fast as C{bytes.find}.
"""

from __future__ import annotations

import re

from attrs import frozen

_LONGEST = 96
"""Length in bytes of the longest sequence that is recognized. So many bytes are kept between
pieces.
"""

_MODES = re.compile(
    rb"\x1b\[(?:\?([0-9;]{1,64})([hl])|(>4(?:;[0-9]?)?[mn])|([<>=][0-9]{0,4}(?:;[123])?u))|\x1bc"
)
_KEYS = re.compile(rb"keys=((?:>4;[123]m)?)((?:/[<>=][0-9]{0,4}(?:;[123])?u){0,16})\Z")
_FLAGS = 16
"""Maximum number of kept changes of the kitty keyboard protocol's flags. The oldest are dropped."""
_WATCHED = {b"2004", b"1004"}
_MARKS = (b"004", b"\x1bc", b"\x1b[>", b"\x1b[<", b"\x1b[=")
_TITLE = re.compile(rb"\x1b\][02];")
_TITLE_PREFIX = 4


@frozen
class KeeperMessage:
    """Control message of the keeper.

    @ivar name: C{started}, C{failed}, C{exit} or C{signal}.
    """

    name: str
    argument: int


class KeeperMessageParser:
    """Parser that extracts the keeper's control messages with one token from a stream.

    A message that arrives in two pieces is recognized, but its bytes stay in the stream. The first
    of them have already been passed on, and terminals ignore them.
    """

    def __init__(self, token: bytes) -> None:
        self._mark = b"\x1b]7773;" + token + b";"
        self._pattern = re.compile(re.escape(self._mark) + rb"([a-z]{1,16});([0-9]{1,9})\x07")
        self._open = b""

    def feed(self, data: bytes) -> list[bytes | KeeperMessage]:
        """Split C{data} into the program's output and the keeper's messages, in order."""
        text, at, seen = self._open + data, len(self._open), 0
        parts: list[bytes | KeeperMessage] = []
        if self._mark in text:
            for found in self._pattern.finditer(text):
                cut = found.start() < at
                parts.append(text[at : found.end() if cut else found.start()])
                parts.append(KeeperMessage(found[1].decode(), int(found[2])))
                at = seen = found.end()
        self._open = self._find_unfinished(text[max(seen, len(text) - _LONGEST) :])
        parts.append(text[at:])
        return [part for part in parts if part]

    def _find_unfinished(self, end: bytes) -> bytes:
        start = end.rfind(b"\x1b")
        last = end[start:] if start >= 0 else b""
        return last if self._mark.startswith(last) or last.startswith(self._mark) else b""


class TitleDetector:
    """Detector of sequences by which a program may set its title (OSC 0 or 2)."""

    def __init__(self) -> None:
        self._end = b""

    def feed(self, data: bytes) -> bool:
        """Process the next piece of the stream. Return true if such a sequence begins in this
        piece.
        """
        text = self._end + data
        self._end = text[-(_TITLE_PREFIX - 1) :]
        return b"\x1b]" in text and _TITLE.search(text) is not None


class ModeTracker:
    """Tracker of terminal modes that tmux 3.2 to 3.5 store but do not report.

    These are bracketed paste, focus reports, and the keyboard modes.
    """

    def __init__(self, kept: bytes = b"") -> None:
        self._set = _WATCHED & set(kept.split(b";"))
        keys = _KEYS.search(kept)
        self._others = keys[1] if keys else b""
        self._flags = keys[2].split(b"/")[1:] if keys else []
        self._open = b""

    @property
    def stored_value(self) -> bytes:
        """Modes that are set, in the form that L{__init__} accepts; empty for none.

        The value contains no comma, because tmux prints it in a list of values separated by commas.
        """
        keys = b"/".join([self._others, *self._flags])
        return b";".join([*sorted(self._set), *([b"keys=" + keys] if keys else [])])

    @property
    def numbers(self) -> frozenset[int]:
        """Numbers of the modes that are set."""
        return frozenset(map(int, self._set))

    @property
    def sequences(self) -> bytes:
        """Escape sequences that set these modes in a fresh terminal."""
        modes = [b"?%bh" % mode for mode in sorted(self._set)]
        return b"".join(b"\x1b[" + each for each in (*modes, self._others, *self._flags) if each)

    def feed(self, data: bytes) -> bool:
        """Process the next piece of the stream. Return true if a mode changed."""
        text = self._open + data
        before = self.stored_value
        if any(mark in text for mark in _MARKS):
            for found in _MODES.finditer(text):
                self._apply_change(found)
        start = text.rfind(b"\x1b", max(0, len(text) - _LONGEST))
        last = text[start:] if start >= 0 else b""
        self._open = b"" if _MODES.match(last) else last
        return before != self.stored_value

    def _apply_change(self, found: re.Match[bytes]) -> None:
        if found[0] == b"\x1bc":
            self._set.clear()
            self._others, self._flags = b"", []
        elif found[3]:
            self._others = found[3] if found[3][3:] in (b"1m", b"2m", b"3m") else b""
        elif found[4]:
            self._apply_flags_change(found[4])
        else:
            modes = _WATCHED & set(found[1].split(b";"))
            self._set = self._set | modes if found[2] == b"h" else self._set - modes

    def _apply_flags_change(self, change: bytes) -> None:
        """Record a change of the kitty keyboard protocol's flags unchanged, to be replayed in a
        fresh terminal.
        """
        if change in (b"<u", b"<1u") and self._flags and self._flags[-1].startswith(b">"):
            self._flags.pop()
        elif self._flags or not change.startswith(b"<"):
            self._flags = [*self._flags, change][-_FLAGS:]
