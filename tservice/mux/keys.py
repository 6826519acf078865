"""Keys that can be pressed by name (protocol-keys), with their tmux names and their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase
from types import MappingProxyType

from attrs import frozen

ESC = b"\x1b"


@frozen
class NamedKey:
    """Key that callers can press by name.

    @ivar tmux: the name that tmux uses for the key.
    @ivar plain: the bytes that a terminal in its initial modes sends for the key.
    @ivar literal: true to send the bytes C{plain}, false to send the key by its tmux name. Literal
        keys mean the same in every terminal mode.
    """

    tmux: str
    plain: bytes
    literal: bool = False


def _control_keys() -> dict[str, NamedKey]:
    return {
        f"C-{letter}": NamedKey(f"C-{letter}", bytes([ord(letter) & 0x1F]), literal=True)
        for letter in ascii_lowercase
    }


KEYS: Mapping[str, NamedKey] = MappingProxyType(
    {
        "Enter": NamedKey("Enter", b"\r", literal=True),
        "Escape": NamedKey("Escape", ESC, literal=True),
        "Tab": NamedKey("Tab", b"\t", literal=True),
        "S-Tab": NamedKey("BTab", b"\x1b[Z", literal=True),
        "BSpace": NamedKey("BSpace", b"\x7f", literal=True),
        # Cursor keys change with DECCKM, so tmux, which knows the mode, encodes them.
        "Up": NamedKey("Up", b"\x1b[A"),
        "Down": NamedKey("Down", b"\x1b[B"),
        "Right": NamedKey("Right", b"\x1b[C"),
        "Left": NamedKey("Left", b"\x1b[D"),
        "Home": NamedKey("Home", b"\x1b[1~"),
        "End": NamedKey("End", b"\x1b[4~"),
        "PageUp": NamedKey("PPage", b"\x1b[5~"),
        "PageDown": NamedKey("NPage", b"\x1b[6~"),
        # The agents' composers read CSI u even if they did not request it; tmux sends it only if
        # the program requested it.
        "S-Enter": NamedKey("S-Enter", b"\x1b[13;2u", literal=True),
        "M-.": NamedKey("M-.", b"\x1b.", literal=True),
        "M-,": NamedKey("M-,", b"\x1b,", literal=True),
        **_control_keys(),
    }
)
"""Keys that the C{send-key} operation accepts, by name."""


def encode_digit(name: str) -> bytes | None:
    """Return the byte of a digit key from 0 to 9; C{None} for every other name."""
    return name.encode() if len(name) == 1 and name in "0123456789" else None
