"""Terminal type that a pane's program gets in C{TERM}.

tmux is the terminal of every pane, independent of the terminal from which the service was started.
Its own terminfo entry is the right one. Systems without it get the entry of screen, with which tmux
is compatible.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

TERMINAL, FALLBACK = "tmux-256color", "screen-256color"

COLOURS = "truecolor"
"""Value of C{COLORTERM}: tmux keeps colours of 24 bits, and every viewer shows them."""

FOLDERS = (
    "/etc/terminfo",
    "/lib/terminfo",
    "/usr/share/terminfo",
    "/usr/lib/terminfo",
    "/usr/local/share/terminfo",
)
"""Folders in which systems keep terminfo entries."""

ENTRIES = (f"t/{TERMINAL}", f"{ord('t'):x}/{TERMINAL}")
"""Paths of the entry in such a folder; macOS names the folders by numbers."""


def find_local_term(is_file: Callable[[str], bool] = lambda path: Path(path).is_file()) -> str:
    """Return the C{TERM} of panes on this machine."""
    found = any(is_file(f"{folder}/{entry}") for folder in FOLDERS for entry in ENTRIES)
    return TERMINAL if found else FALLBACK
