"""Separation of a remote program's output from the output of the login shell that starts the
program.

A login shell runs its user's startup files, which may print anything to either stream. The program
prints a mark to both streams before its own output, and everything before the mark is dropped.
"""

from __future__ import annotations

KEPT = 2000
"""Bytes of the latest output that are kept until the mark arrives. Every mark is shorter."""


class ShellPreambleFilter:
    """Filter that removes a login shell's output from the output of one child process.

    @param mark: the first output of the program. If empty, the program's output is not filtered.
    @ivar has_begun: true once the mark was received.
    """

    def __init__(self, mark: bytes = b"") -> None:
        self.has_begun = not mark
        self._mark = mark
        self._last = b""

    def strip_output(self, data: bytes) -> bytes:
        """Process the next bytes of standard output. Return the part that the program printed."""
        if self.has_begun:
            return data
        before, mark, own = (self._last + data).partition(self._mark)
        self.has_begun = bool(mark)
        self._last = before[-KEPT:]
        return own

    def strip_errors(self, errors: bytes) -> bytes:
        """Return the part of standard error that the program printed. Without a mark, return
        everything.
        """
        before, mark, own = errors.partition(self._mark) if self._mark else (errors, b"", b"")
        return own if mark else before

    @property
    def last_line(self) -> str:
        """Last non-empty line that the login shell printed; empty once the program has begun."""
        lines = [] if self.has_begun else self._last.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
