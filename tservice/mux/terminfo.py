"""Terminal type (C{TERM}) for the program in a pane.

tmux is the terminal of every pane, independent of the terminal from which the service was started.
The correct terminfo entry is the one of tmux. Systems without that entry get the entry of screen,
with which tmux is compatible.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

TERMINAL, FALLBACK = "tmux-256color", "screen-256color"

COLOURS = "truecolor"
"""Value of C{COLORTERM}. tmux supports 24-bit colours, and every viewer shows them."""

FOLDERS = (
    "/etc/terminfo",
    "/lib/terminfo",
    "/usr/share/terminfo",
    "/usr/lib/terminfo",
    "/usr/local/share/terminfo",
)
"""Folders in which operating systems store terminfo entries."""

ENTRIES = (f"t/{TERMINAL}", f"{ord('t'):x}/{TERMINAL}")
"""Paths of tmux's entry inside a terminfo folder. macOS uses hexadecimal folder names."""


def find_local_term(is_file: Callable[[str], bool] = lambda path: Path(path).is_file()) -> str:
    """Return the value of C{TERM} for panes on this machine."""
    found = any(is_file(f"{folder}/{entry}") for folder in FOLDERS for entry in ENTRIES)
    return TERMINAL if found else FALLBACK
