"""Supervisor process between the service and a program, so that no process outlives the service.

The supervisor creates a session with a process group, and runs the program in that group. Its
standard input is a pipe, whose other end only the service has. When the service ends for any
reason, the pipe closes, and the supervisor kills the whole group. Otherwise the service sends a
signal to the group, and the supervisor ends as the program did.

The file is run directly in a bare interpreter (C{python -I -S}), with the standard library only.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import NoReturn

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL."""

NOT_STARTED = 127
"""Exit status if the program cannot be run, as used by shells."""

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main(argv: list[str]) -> NoReturn:
    """Run the command C{argv} until it exits or the service ends.

    @param argv: program and arguments. The program is a path.
    """
    os.setsid()
    # Signals from the service to the group are meant for the program.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ended = _open_child_end_descriptor()
    child = os.fork()
    if child == 0:
        _exec_program(argv)
    readable, _, _ = select.select([0, ended], [], [])
    if ended not in readable:
        _end_group(ended)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        _end_by_signal(os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


def _open_child_end_descriptor() -> int:
    """Return a descriptor that becomes readable when the child process has ended."""
    ended, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    # Without a handler nothing is written to the wakeup descriptor.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return ended


def _exec_program(argv: list[str]) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, *_IGNORED_BY_PYTHON):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execv(argv[0], argv)  # noqa: S606
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _end_by_signal(number: int) -> None:
    """End this process by a signal, like the program."""
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _end_group(ended: int) -> NoReturn:
    """Terminate the whole process group, including this process, because the service has ended.

    @param ended: descriptor that becomes readable when the child process has ended.
    """
    os.killpg(0, signal.SIGTERM)
    select.select([ended], [], [], GRACE)
    os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
