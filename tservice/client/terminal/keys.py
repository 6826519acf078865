"""Keys that C{tsctl attach} handles itself."""

from __future__ import annotations

import re

from tservice.client.errors import Unusable

DETACH = r"Ctrl-\ d"
_CONTROL = re.compile(r"(?:Ctrl-|C-|\^)([@-_a-z])", re.IGNORECASE)


def parse_keys(text: str) -> bytes:
    """Parse a key, or a prefix key and another key: C{Ctrl-X}, C{C-x}, C{^X}, or a character.

    @return: the bytes that the terminal sends for the keys.
    @raise Unusable: the text has another form.
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
    """Search for the detach keys in typed input. Typing the prefix key twice sends it once."""

    def __init__(self, keys: bytes) -> None:
        self._prefix, self._key = keys[:1], keys[1:]
        self._open = False

    def split_at_detach_keys(self, data: bytes) -> tuple[bytes, bool]:
        """Return the bytes to send, and true if the detach keys were pressed.

        Bytes after the detach keys are dropped.
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
