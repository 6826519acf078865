"""The terminal that a pane's program is told it has.

tmux is the terminal of every pane, whatever the service was started from.  Its own description is
the right one; systems without it have that of its predecessor, which tmux also is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

TERMINAL, FALLBACK = "tmux-256color", "screen-256color"

COLOURS = "truecolor"
"""C{COLORTERM}: tmux keeps colours of 24 bits, and every viewer shows them."""

FOLDERS = (
    "/etc/terminfo",
    "/lib/terminfo",
    "/usr/share/terminfo",
    "/usr/lib/terminfo",
    "/usr/local/share/terminfo",
)
"""Where systems keep descriptions of terminals."""

ENTRIES = (f"t/{TERMINAL}", f"{ord('t'):x}/{TERMINAL}")
"""Where the description is in such a folder; macOS names the folders by numbers."""


def own_terminal(is_file: Callable[[str], bool] = lambda path: Path(path).is_file()) -> str:
    """Return the C{TERM} of panes on this machine."""
    found = any(is_file(f"{folder}/{entry}") for folder in FOLDERS for entry in ENTRIES)
    return TERMINAL if found else FALLBACK
