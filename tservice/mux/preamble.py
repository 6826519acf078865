"""Telling a program at the far end of a command from the login shell that starts it.

A login shell runs its user's startup files, which may print anything to either stream.  The
program prints a mark to both before its first own word, and what came before is dropped.
"""

from __future__ import annotations

KEPT = 2000
"""Bytes of what was printed last that are kept until the mark comes; a mark is shorter."""


class Preamble:
    """What one child prints before its program begins.

    @param mark: what the program prints first; empty: nothing comes before it.
    @ivar over: the program has begun.
    """

    def __init__(self, mark: bytes = b"") -> None:
        self.over = not mark
        self._mark = mark
        self._last = b""

    def drop_from(self, data: bytes) -> bytes:
        """Return the program's own part of what standard output brought next."""
        if self.over:
            return data
        before, mark, own = (self._last + data).partition(self._mark)
        self.over = bool(mark)
        self._last = before[-KEPT:]
        return own

    def drop_from_errors(self, errors: bytes) -> bytes:
        """Return the program's own part of its standard error; all of it without a mark."""
        before, mark, own = errors.partition(self._mark) if self._mark else (errors, b"", b"")
        return own if mark else before

    @property
    def last_words(self) -> str:
        """The last line that was printed in place of a program that never began."""
        lines = [] if self.over else self._last.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
