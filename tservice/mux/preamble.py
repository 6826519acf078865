"""Separation of a remote program's output from that of the login shell that starts it.

A login shell runs its user's startup files, which may print anything to either stream. The program
prints a mark to both streams before its own output, and everything before the mark is dropped.
"""

from __future__ import annotations

KEPT = 2000
"""Bytes of the latest output that are kept until the mark comes; a mark is shorter."""


class ShellPreamble:
    """Output of one child before its program begins.

    @param mark: the first output of the program; empty if nothing precedes it.
    @ivar over: the program has begun.
    """

    def __init__(self, mark: bytes = b"") -> None:
        self.has_begun = not mark
        self._mark = mark
        self._last = b""

    def strip_output(self, data: bytes) -> bytes:
        """Return the program's own part of the next bytes of standard output."""
        if self.has_begun:
            return data
        before, mark, own = (self._last + data).partition(self._mark)
        self.has_begun = bool(mark)
        self._last = before[-KEPT:]
        return own

    def strip_errors(self, errors: bytes) -> bytes:
        """Return the program's own part of its standard error; all of it if the mark is missing."""
        before, mark, own = errors.partition(self._mark) if self._mark else (errors, b"", b"")
        return own if mark else before

    @property
    def last_line(self) -> str:
        """Last line that was printed by a child whose program never began."""
        lines = [] if self.has_begun else self._last.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
