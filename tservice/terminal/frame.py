"""What terminal rules read of a capture, so that they need not know a multiplexer."""

from __future__ import annotations

from typing import Protocol


class PaneContent(Protocol):
    """A pane's content; the multiplexer's capture is one.

    Rows may hold styles that are carried into the next row; history and screen each begin without.
    """

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The lines of the history, then the rows of the screen."""

    @property
    def wrapped(self) -> frozenset[int]:
        """Which of L{lines} go on in the next entry, since the multiplexer wrapped them."""

    @property
    def history(self) -> int:
        """How many of L{lines} are history."""

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
        """Whether a full-screen program has the alternate screen."""

    @property
    def modes(self) -> bytes:
        """Escape sequences that put a fresh terminal into the pane's modes."""

    @property
    def finish(self) -> bytes:
        """What must follow the rows: scroll region, origin, insert and wrap modes, caret."""

    @property
    def main(self) -> tuple[bytes, ...]:
        """The rows of the main screen behind an alternate one."""

    @property
    def main_wrapped(self) -> frozenset[int]:
        """Which of L{main} go on in the next row."""

    @property
    def main_cursor(self) -> tuple[int, int]:
        """The caret's column and row there."""
