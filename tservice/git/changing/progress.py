"""Parser of the output of C{git clone --progress}, which also finds the reason of a failure."""

from __future__ import annotations

import re

from tservice.git.interfaces import CloneProgress

LINE_LIMIT = 4096
"""Maximum bytes that are parsed of a line, and that are kept of the error output."""

_PROGRESS = re.compile(
    rb"(?:remote: )?(Enumerating|Counting|Compressing|Receiving|Resolving|Updating|Filtering)"
    rb" (?:objects|deltas|files|content): *(?:(\d{1,3})%|\d+)"
)
_PHASES = {
    b"Enumerating": "counting",
    b"Counting": "counting",
    b"Compressing": "compressing",
    b"Receiving": "receiving",
    b"Resolving": "resolving",
    b"Updating": "checking-out",
    b"Filtering": "checking-out",
}
_ENDS = re.compile(rb"[\r\n]")


class ProgressReader:
    """Splits git's standard error into lines.

    The input may arrive in pieces of any size.

    @ivar now: the latest progress.
    @ivar complaints: the last lines that do not report progress, joined by line feeds.
    """

    def __init__(self) -> None:
        self.now = CloneProgress()
        self.complaints = b""
        self._rest = b""

    def feed_bytes(self, data: bytes) -> bool:
        """Parse the next bytes and return true if L{now} has changed."""
        before = self.now
        *lines, rest = _ENDS.split(self._rest + data)
        self._rest = rest[-LINE_LIMIT:]
        for line in lines:
            self._parse_line(line.strip()[:LINE_LIMIT])
        return self.now != before

    def finish_input(self) -> bytes:
        """Parse the remaining input and return git's error output."""
        self._parse_line(self._rest.strip())
        self._rest = b""
        return self.complaints

    def _parse_line(self, line: bytes) -> None:
        found = _PROGRESS.match(line)
        if found is not None:
            percent = None if found[2] is None else min(100, int(found[2]))
            self.now = CloneProgress(phase=_PHASES[found[1]], percent=percent)
        elif line and not line.startswith(b"Cloning into "):
            self.complaints = (self.complaints + line + b"\n")[-LINE_LIMIT:]


_REASONS: tuple[tuple[str, str], ...] = (
    (r"remote branch .* not found|couldn't find remote ref", "the repository has no such ref"),
    (r"no space left on device|disk quota exceeded", "the disk is full"),
    (r"host key verification failed", "cannot connect: the host's key is not known, or changed"),
    (
        r"authentication failed|could not read (username|password)|permission denied"
        r"|returned error: 40[13]|invalid credentials|not allowed",
        "not allowed: the address needs valid credentials",
    ),
    (
        r"repository .* not found|does not appear to be a git repository|does not exist"
        r"|returned error: 404|access denied or repository not exported|no such file",
        "not found: there is no such repository",
    ),
    (
        r"could not resolve host|connection refused|timed out|unable to access|unable to connect"
        r"|network is unreachable|no route to host|connection reset|unexpectedly closed",
        "cannot connect to the host",
    ),
)


def find_failure_reason(complaints: bytes) -> str | None:
    """Return a readable reason for a failed clone; C{None} if git's own text should be shown."""
    text = complaints.decode("utf-8", "replace").lower()
    return next((told for pattern, told in _REASONS if re.search(pattern, text)), None)
