"""The keeper's words in a pane's stream (see L{tservice.mux.tmux.keeper}), and the modes there.

Pure; both look for a few bytes in every piece of a stream, at the speed of C{bytes.find}.
"""

from __future__ import annotations

import re

from attrs import frozen

_LONGEST = 96
"""Bytes of the longest sequence that is looked for; what is kept between two pieces."""

_PRIVATE_MODES = re.compile(rb"\x1b\[\?([0-9;]{1,64})([hl])|\x1bc")
_WATCHED = {b"2004", b"1004"}
_TITLE = re.compile(rb"\x1b\][02];")
_TITLE_PREFIX = 4


@frozen
class Word:
    """What the keeper said.

    @ivar name: C{started}, C{failed}, C{exit} or C{signal}.
    """

    name: str
    argument: int


class KeeperWords:
    """Takes the words with one token out of a stream.

    A word that arrives in two pieces is understood, but its bytes stay: the first have been passed
    on already, and terminals ignore them.
    """

    def __init__(self, token: bytes) -> None:
        self._mark = b"\x1b]7773;" + token + b";"
        self._pattern = re.compile(re.escape(self._mark) + rb"([a-z]{1,16});([0-9]{1,9})\x07")
        self._open = b""

    def feed(self, data: bytes) -> list[bytes | Word]:
        """C{data} divided into what the program wrote and what the keeper said, in order."""
        text, at, seen = self._open + data, len(self._open), 0
        parts: list[bytes | Word] = []
        if self._mark in text:
            for found in self._pattern.finditer(text):
                cut = found.start() < at
                parts.append(text[at : found.end() if cut else found.start()])
                parts.append(Word(found[1].decode(), int(found[2])))
                at = seen = found.end()
        self._open = self._unfinished(text[max(seen, len(text) - _LONGEST) :])
        parts.append(text[at:])
        return [part for part in parts if part]

    def _unfinished(self, end: bytes) -> bytes:
        start = end.rfind(b"\x1b")
        last = end[start:] if start >= 0 else b""
        return last if self._mark.startswith(last) or last.startswith(self._mark) else b""


class TitleWatch:
    """Notices that a program may be setting its title (OSC 0 or 2)."""

    def __init__(self) -> None:
        self._end = b""

    def feed(self, data: bytes) -> bool:
        """Take a piece of the stream; whether such a sequence begins in it."""
        text = self._end + data
        self._end = text[-(_TITLE_PREFIX - 1) :]
        return b"\x1b]" in text and _TITLE.search(text) is not None


class ModeWatch:
    """Follows the modes that tmux 3.2 to 3.5 keep but do not tell: bracketed paste and focus."""

    def __init__(self, kept: bytes = b"") -> None:
        self._set = _WATCHED & set(kept.split(b";"))
        self._open = b""

    @property
    def value(self) -> bytes:
        """The modes that are set, for L{__init__}; empty for none."""
        return b";".join(sorted(self._set))

    @property
    def numbers(self) -> frozenset[int]:
        """The modes that are set."""
        return frozenset(map(int, self._set))

    @property
    def sequences(self) -> bytes:
        """What sets them in a fresh terminal."""
        return b"".join(b"\x1b[?%bh" % mode for mode in sorted(self._set))

    def feed(self, data: bytes) -> bool:
        """Take a piece of the stream; whether a mode changed."""
        text = self._open + data
        before = frozenset(self._set)
        if b"004" in text or b"\x1bc" in text:
            for found in _PRIVATE_MODES.finditer(text):
                self._take(found)
        start = text.rfind(b"\x1b", max(0, len(text) - _LONGEST))
        last = text[start:] if start >= 0 else b""
        self._open = b"" if _PRIVATE_MODES.match(last) else last
        return before != self._set

    def _take(self, found: re.Match[bytes]) -> None:
        if found[1] is None:
            self._set.clear()
            return
        modes = _WATCHED & set(found[1].split(b";"))
        self._set = self._set | modes if found[2] == b"h" else self._set - modes
