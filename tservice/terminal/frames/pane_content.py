"""Interface of a captured pane, so that the terminal rules do not depend on a multiplexer."""

from __future__ import annotations

from typing import Protocol


class PaneContent(Protocol):
    """Content of a pane, as a multiplexer captures it.

    Rows may contain styles that continue in the next row. The history and the screen each begin
    without a style.
    """

    @property
    def lines(self) -> tuple[bytes, ...]:
        """Lines of the history, then the rows of the screen."""

    @property
    def wrapped(self) -> frozenset[int]:
        """Indices of the L{lines} that continue in the next entry, because they were wrapped."""

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
        """Column of the caret; equals L{cols} if the next character will wrap."""

    @property
    def cursor_y(self) -> int:
        """Row of the caret on the screen."""

    @property
    def alternate_screen(self) -> bool:
        """True if a full-screen program shows the alternate screen."""

    @property
    def modes(self) -> bytes:
        """Escape sequences that set the pane's modes in a terminal that was just reset."""

    @property
    def finish(self) -> bytes:
        """Escape sequences that must follow the rows: scroll region, origin, insert and wrap modes,
        caret.
        """

    @property
    def main(self) -> tuple[bytes, ...]:
        """Rows of the main screen while the alternate screen is shown."""

    @property
    def main_wrapped(self) -> frozenset[int]:
        """Indices of L{main} that continue in the next row."""

    @property
    def main_cursor(self) -> tuple[int, int]:
        """Column and row of the caret on the main screen."""
