"""Keys that C{tsctl attach} handles itself."""

from __future__ import annotations

import re

from tservice.client.errors import Unusable

DETACH = r"Ctrl-\ d"
_CONTROL = re.compile(r"(?:Ctrl-|C-|\^)([@-_a-z])", re.IGNORECASE)


def parse_keys(text: str) -> bytes:
    """Return one key, or two of which the first is a prefix: C{Ctrl-X}, C{C-x}, C{^X}, or a
    character.

    @raise Unusable: the text is anything else.
    """
    words = text.split()
    found = bytes(_parse_key(word) for word in words)
    if len(found) == 1 and found < b" ":
        return found
    if len(found) == 2 and found[:1] < b" " and found[0] != found[1]:
        return found
    raise Unusable(
        "--detach-keys must be Ctrl-KEY, or Ctrl-KEY and another key, with a blank between"
    )


def _parse_key(word: str) -> int:
    if len(word) == 1 and "!" <= word <= "~":
        return ord(word)
    control = _CONTROL.fullmatch(word)
    if control is None:
        raise Unusable(f"--detach-keys: {word!r} is not a key")
    return ord(control[1].upper()) & 0x1F


class DetachKeyFinder:
    """Finder of the detach keys in typed input; the prefix typed twice types it once."""

    def __init__(self, keys: bytes) -> None:
        self._prefix, self._key = keys[:1], keys[1:]
        self._open = False

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        """Return the bytes to type, and true if the detach keys were pressed; later bytes are
        dropped.
        """
        typed = bytearray()
        for code in data:
            key = bytes((code,))
            if self._open:
                self._open = False
                if key == self._key:
                    return bytes(typed), True
                typed += self._prefix if key == self._prefix else self._prefix + key
            elif key == self._prefix:
                if not self._key:
                    return bytes(typed), True
                self._open = True
            else:
                typed += key
        return bytes(typed), False
