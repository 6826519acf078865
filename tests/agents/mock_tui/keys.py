"""Bytes of one read from the terminal to keys.

What arrives in one read belongs together: dialogs act on the choice that was
marked before the read, so a cursor key and Enter in one write miss.
"""

from __future__ import annotations

import codecs
import re

from attrs import frozen

PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"

_NAMED = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x1b[D": "left",
    "\x1bOD": "left",
    "\x1b[Z": "backtab",
    "\x1b\r": "newline",
    "\x1b[13;2u": "newline",
    "\x1b": "escape",
    "\r": "enter",
    "\n": "newline",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x03": "interrupt",
    "\x04": "end",
    "\x0e": "down",
    "\x10": "up",
}
_TOKEN = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b\r|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|.)?", re.S)


@frozen
class KeyPress:
    """A key with a name."""

    name: str


@frozen
class TypedText:
    """Characters as if typed."""

    text: str


@frozen
class PastedText:
    """The text between paste markers, with line ends as LF."""

    text: str


Key = KeyPress | TypedText | PastedText


def _plain(text: str) -> list[Key]:
    keys: list[Key] = []
    for token in _TOKEN.findall(text):
        name = _NAMED.get(token)
        if name is not None:
            keys.append(KeyPress(name))
        elif token >= " ":
            keys.append(TypedText(token))
    return keys


def cleaned(text: str) -> str:
    """Pasted text as the composer takes it: LF, four blanks for TAB, no escapes."""
    ends = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return _ESCAPES.sub("", ends)


class KeyDecoder:
    """Keys out of reads; a paste may span many."""

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._paste: str | None = None

    def feed(self, data: bytes) -> list[Key]:
        """The keys of one read."""
        text, keys = self._utf8.decode(data), list[Key]()
        while text:
            if self._paste is None:
                before, begun, text = text.partition(PASTE_BEGIN)
                keys += _plain(before)
                if begun:
                    self._paste = ""
            if self._paste is not None:
                text = self._continue(text, keys)
        return keys

    def _continue(self, text: str, keys: list[Key]) -> str:
        """Take the paste's next piece; what stands behind its end."""
        assert self._paste is not None
        whole, ended, rest = (self._paste + text).partition(PASTE_END)
        if not ended:
            self._paste = whole
            return ""
        self._paste = None
        keys.append(PastedText(cleaned(whole)))
        return rest
