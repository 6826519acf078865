"""Environment and streams of the command C{tservice}."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from attrs import frozen

FAILED = 2
"""Exit status if the command failed, as of C{tsctl}."""

RunProgram = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Function that runs a program to its end and returns its output as text."""


class CommandError(Exception):
    """Raised if a command cannot do its work. The text is one line for the user."""


@frozen(kw_only=True)
class Terminal:
    """Environment, streams and child processes of a command.

    @ivar run: runs a program and captures its output.
    @ivar replace: replaces this process by a program, and never returns.
    """

    environ: Mapping[str, str]
    home: Path
    out: TextIO
    error: TextIO
    run: RunProgram
    replace: Callable[[Sequence[str]], int]

    def print_line(self, text: str) -> None:
        """Print a line of the result."""
        print(text, file=self.out, flush=True)


def run_program(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its exit status and output.

    A program that does not exist gives the status 127, as in a shell.
    """
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(list(argv), 127, "", f"{argv[0]}: not found")


def stream_program(argv: Sequence[str]) -> int:
    """Run a program with this process's streams and return its exit status."""
    sys.stdout.flush()
    try:
        return subprocess.run(argv, check=False).returncode
    except FileNotFoundError:
        raise CommandError(f"{argv[0]}: not found") from None
