"""Content of a capture as the terminal rules see it, so that they do not depend on a
multiplexer.
"""

from __future__ import annotations

from typing import Protocol


class PaneContent(Protocol):
    """Content of a pane; the multiplexer's capture is one.

    Rows may contain styles that continue in the next row; history and screen each begin without.
    """

    @property
    def lines(self) -> tuple[bytes, ...]:
        """Lines of the history, then the rows of the screen."""

    @property
    def wrapped(self) -> frozenset[int]:
        """Indices of the L{lines} that continue in the next entry, because the multiplexer
        wrapped them.
        """

    @property
    def history(self) -> int:
        """Number of history entries in L{lines}."""

    @property
    def cols(self) -> int:
        """Columns of the screen."""

    @property
    def rows(self) -> int:
        """Rows of the screen."""

    @property
    def cursor_x(self) -> int:
        """Column of the caret; equals L{cols} when the next character wraps."""

    @property
    def cursor_y(self) -> int:
        """Row of the caret on the screen."""

    @property
    def alternate_screen(self) -> bool:
        """True if a full-screen program shows the alternate screen."""

    @property
    def modes(self) -> bytes:
        """Escape sequences that put a fresh terminal into the pane's modes."""

    @property
    def finish(self) -> bytes:
        """Sequences that must follow the rows: scroll region, origin, insert and wrap modes,
        caret.
        """

    @property
    def main(self) -> tuple[bytes, ...]:
        """Rows of the main screen while the alternate one is shown."""

    @property
    def main_wrapped(self) -> frozenset[int]:
        """Indices of L{main} that continue in the next row."""

    @property
    def main_cursor(self) -> tuple[int, int]:
        """Column and row of the caret on the main screen."""
