"""Environment and streams of C{tsctl}, with methods for its output."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from tservice.client.terminal.safe import safe_json, safe_line
from tservice.client.terminal.tables import format_table

BROKEN, FAILED = 1, 2
"""Exit statuses (protocol-tsctl): a wait timed out or a check failed; the command failed."""


def _sleep(seconds: float) -> None:
    select.select((), (), (), seconds)


class ShellContext(NamedTuple):
    """Environment variables and streams of C{tsctl}.

    @ivar now: returns the time in Unix seconds.
    @ivar sleep: sleeps for a number of seconds.
    """

    environ: Mapping[str, str]
    home: Path
    now: Callable[[], float]
    input: TextIO
    out: TextIO
    error: TextIO
    sleep: Callable[[float], None] = _sleep

    def print_line(self, text: str) -> None:
        """Print a line of a result and flush it, because another program may wait for it."""
        print(text, file=self.out, flush=True)

    def print_progress(self, text: str) -> None:
        """Print a progress message if stderr is a terminal."""
        if self.error.isatty():
            self.print_warning(text)

    def print_warning(self, text: str) -> None:
        """Print a warning that a result is incomplete."""
        print(f"tsctl: {safe_line(text)}", file=self.error, flush=True)

    def print_json(self, found: object, *, compact: bool = False) -> None:
        """Print records as JSON."""
        text = json.dumps(found, indent=None if compact else 2, ensure_ascii=False)
        self.print_line(safe_json(text))

    def print_table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print a table. The cells may contain untrusted text, and the first row is the header."""
        safe = [[safe_line(cell) for cell in row] for row in rows]
        for line in format_table(safe, self.terminal_width(), self.use_colour()):
            self.print_line(line)

    def terminal_width(self) -> int | None:
        """Return the number of columns of the output terminal, or C{None} if the output is not a
        terminal.
        """
        if not self.out.isatty():
            return None
        try:
            return os.get_terminal_size(self.out.fileno()).columns or None
        except OSError:
            return None

    def use_colour(self) -> bool:
        """Return true if the output may be coloured (no-color.org)."""
        plain = self.environ.get("NO_COLOR") or self.environ.get("TERM", "dumb") == "dumb"
        return self.out.isatty() and not plain


def format_ago(now: float, moment_ms: int | None) -> str:
    """Return the age of a time: C{5s}, C{12m}, C{3h}, C{9d}. For a time in the future, return C{in
    3h}.

    @param now: current time in Unix seconds.
    @param moment_ms: time in Unix milliseconds.
    """
    if moment_ms is None:
        return "-"
    seconds = int(now - moment_ms / 1000)
    prefix, seconds = ("in ", -seconds) if seconds < 0 else ("", seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{prefix}{seconds // size}{unit}"
    return f"{prefix}{seconds}s"


def format_cell(record: Mapping[str, Any], name: str) -> str:
    """Format the field C{name} of a record as a table cell."""
    found = record.get(name)
    return "-" if found in (None, "") else str(found)
