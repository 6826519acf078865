"""Entry point of C{tsctl}, the command-line client for operators and scripts; see tsctl(1).

A command's modules are imported only when it runs, so that the start costs little more than that of
Python.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tservice.client.commands.parsing import parse_command_line
from tservice.client.commands.record import CommandSpec
from tservice.client.errors import ApiError, Unusable
from tservice.client.shell import FAILED, ShellContext
from tservice.client.terminal.safe import safe_line
from tservice.core.kernel.clock import get_system_seconds

FAULTS = (Unusable, ApiError)


def main(argv: Sequence[str] | None = None) -> None:
    """Run C{tsctl} and exit with its status."""
    for stream in (sys.stdout, sys.stderr):
        # Replace letters that the locale lacks instead of failing.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    raise SystemExit(
        run_command_line(sys.argv[1:] if argv is None else argv, build_shell_context())
    )


def run_command_line(argv: Sequence[str], shell: ShellContext) -> int:
    """Run one command and return its exit status.

    @raise SystemExit: the command line is invalid, or requests only help.
    """
    command, words = parse_command_line(argv)
    try:
        return run_command(command, words, shell)
    except FAULTS as error:
        print(f"tsctl: {safe_line(str(error))}", file=shell.error)
        return FAILED
    except BrokenPipeError:
        # The reader closed the pipe; Python's shutdown must not try to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        # An answer of an unexpected shape, a closed terminal: one line as well (protocol-tsctl).
        said = safe_line(f"{type(error).__name__}: {error}")
        print(f"tsctl: {command.name} failed: {said}", file=shell.error)
        return FAILED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def run_command(command: CommandSpec, words: Namespace, shell: ShellContext) -> int:
    """Import the function of C{command} and run it."""
    file, _, function = command.does.partition(":")
    does = getattr(import_module(f"tservice.client.commands.{file}"), function)
    status: int
    if command.local:
        status = does(words, shell)
        return status
    from tservice.client.commands.context import CommandContext
    from tservice.client.link.address import address_from_environment
    from tservice.client.link.caller import ApiCaller

    status = does(
        CommandContext(
            words, shell, ApiCaller(address_from_environment(shell.environ, shell.home, words.at))
        )
    )
    return status


def build_shell_context() -> ShellContext:
    """Return the environment and streams of this process."""
    return ShellContext(
        environ=os.environ,
        home=Path.home(),
        now=get_system_seconds,
        input=sys.stdin,
        out=sys.stdout,
        error=sys.stderr,
    )
