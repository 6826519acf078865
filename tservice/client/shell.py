"""Environment that C{tsctl} was started in, and its output there."""

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

    @ivar now: returns Unix seconds.
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
        """Print a line of an answer and flush: a reader may wait for it."""
        print(text, file=self.out, flush=True)

    def print_progress(self, text: str) -> None:
        """Print progress, if stderr is a terminal."""
        if self.error.isatty():
            self.print_warning(text)

    def print_warning(self, text: str) -> None:
        """Print a warning about an incomplete answer."""
        print(f"tsctl: {safe_line(text)}", file=self.error, flush=True)

    def print_json(self, found: object, *, compact: bool = False) -> None:
        """Print records as JSON."""
        text = json.dumps(found, indent=None if compact else 2, ensure_ascii=False)
        self.print_line(safe_json(text))

    def print_table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print rows of untrusted text; the first is the head."""
        safe = [[safe_line(cell) for cell in row] for row in rows]
        for line in format_table(safe, self.terminal_width(), self.use_colour()):
            self.print_line(line)

    def terminal_width(self) -> int | None:
        """Return the columns of the output terminal; C{None} without a terminal."""
        if not self.out.isatty():
            return None
        try:
            return os.get_terminal_size(self.out.fileno()).columns or None
        except OSError:
            return None

    def use_colour(self) -> bool:
        """Return true if answers may be coloured (no-color.org)."""
        plain = self.environ.get("NO_COLOR") or self.environ.get("TERM", "dumb") == "dumb"
        return self.out.isatty() and not plain


def format_ago(now: float, moment_ms: int | None) -> str:
    """Return the age of a moment: C{5s}, C{12m}, C{3h}, C{9d}; for the future C{in 3h}."""
    if moment_ms is None:
        return "-"
    seconds = int(now - moment_ms / 1000)
    prefix, seconds = ("in ", -seconds) if seconds < 0 else ("", seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{prefix}{seconds // size}{unit}"
    return f"{prefix}{seconds}s"


def format_cell(record: Mapping[str, Any], name: str) -> str:
    """Return a field as a table shows it."""
    found = record.get(name)
    return "-" if found in (None, "") else str(found)
