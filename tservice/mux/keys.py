"""Keys that can be pressed by name (protocol-keys), with their tmux names and their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase
from types import MappingProxyType

from attrs import frozen

ESC = b"\x1b"


@frozen
class Key:
    """Key with a name.

    @ivar tmux: the name that tmux uses for it.
    @ivar plain: the bytes that a terminal in its initial modes sends for it.
    @ivar literal: type C{plain} as bytes instead of naming the key to tmux. This is for keys whose
        meaning does not depend on the modes that the program chose.
    """

    tmux: str
    plain: bytes
    literal: bool = False


def _control_keys() -> dict[str, Key]:
    return {
        f"C-{letter}": Key(f"C-{letter}", bytes([ord(letter) & 0x1F]), literal=True)
        for letter in ascii_lowercase
    }


KEYS: Mapping[str, Key] = MappingProxyType(
    {
        "Enter": Key("Enter", b"\r", literal=True),
        "Escape": Key("Escape", ESC, literal=True),
        "Tab": Key("Tab", b"\t", literal=True),
        "S-Tab": Key("BTab", b"\x1b[Z", literal=True),
        "BSpace": Key("BSpace", b"\x7f", literal=True),
        # Cursor keys change with DECCKM, so tmux, which knows the mode, encodes them.
        "Up": Key("Up", b"\x1b[A"),
        "Down": Key("Down", b"\x1b[B"),
        "Right": Key("Right", b"\x1b[C"),
        "Left": Key("Left", b"\x1b[D"),
        "Home": Key("Home", b"\x1b[1~"),
        "End": Key("End", b"\x1b[4~"),
        "PageUp": Key("PPage", b"\x1b[5~"),
        "PageDown": Key("NPage", b"\x1b[6~"),
        # The agents' composers read CSI u even if they did not request it; tmux sends it only if
        # the program requested it.
        "S-Enter": Key("S-Enter", b"\x1b[13;2u", literal=True),
        "M-.": Key("M-.", b"\x1b.", literal=True),
        "M-,": Key("M-,", b"\x1b,", literal=True),
        **_control_keys(),
    }
)
"""Keys that C{send-key} accepts, by name."""


def digit(name: str) -> bytes | None:
    """Return the byte of a digit key from 0 to 9; C{None} for every other name."""
    return name.encode() if len(name) == 1 and name in "0123456789" else None
