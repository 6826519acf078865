"""Supervisor process between the service and a program, so that no process outlives the service.

The supervisor creates a session with a process group, and runs the program in that group. Its
standard input is a pipe, whose other end only the service has. When the service ends for any
reason, the pipe closes, and the supervisor kills the whole group. Otherwise the service sends a
signal to the group, and the supervisor ends as the program did.

With L{CONTAIN} before the command, the supervisor ends every process that the program has left,
also those that made a session of their own. On Linux they become children of the supervisor.
SIGTERM then means to end all of them.

The file is run directly in a bare interpreter (C{python -I -S}), with the standard library only.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from contextlib import suppress
from typing import NoReturn

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL."""

CONTAIN = "--contain"
"""First argument for the containment of processes that leave the group."""

KILL_ROUNDS = 500
"""Maximum number of times that the processes of a contained program are listed and killed."""

_ROUND_SECONDS = 0.01

NOT_STARTED = 127
"""Exit status if the program cannot be run, as used by shells."""

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main(argv: list[str]) -> NoReturn:
    """Run the command C{argv} until it exits or the service ends.

    @param argv: program and arguments. The program is a path.
    """
    os.setsid()
    if argv[0] == CONTAIN:
        _run_contained(argv[1:])
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


def _run_contained(argv: list[str]) -> NoReturn:
    _adopt_orphans()
    wanted: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: wanted.append(number))
    ended = _open_child_end_descriptor()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        _exec_program(argv)
    with suppress(OSError):
        os.setpgid(child, child)
    status = None
    while status is None and not wanted:
        readable, _, _ = select.select([0, ended], [], [])
        if 0 in readable:
            wanted.append(0)
        status = _reap_children(child, ended)
    if status is None:
        status = _terminate_group(child, ended)
    _kill_descendants(child, ended)
    if status is None or os.WIFSIGNALED(status):
        _end_by_signal(signal.SIGKILL if status is None else os.WTERMSIG(status))
        os._exit(1)
    os._exit(os.waitstatus_to_exitcode(status))


def _adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends (PR_SET_CHILD_SUBREAPER)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def _reap_children(child: int, ended: int) -> int | None:
    """Collect the children that have ended.

    @return: the status of C{child}; C{None} if it still runs.
    """
    with suppress(BlockingIOError):
        os.read(ended, 4096)
    found = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                found = status
    return found


def _terminate_group(child: int, ended: int) -> int | None:
    """Send SIGTERM to the program's group and wait for the program.

    @return: its status; C{None} if it still runs after L{GRACE}.
    """
    with suppress(OSError):
        os.killpg(child, signal.SIGTERM)
    for _ in range(int(GRACE / _ROUND_SECONDS)):
        select.select([ended], [], [], _ROUND_SECONDS)
        status = _reap_children(child, ended)
        if status is not None:
            return status
    return None


def _kill_descendants(child: int, ended: int) -> None:
    """Kill the program's group, and all children of this process until there are none."""
    for _ in range(KILL_ROUNDS):
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        for pid in _list_children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        _reap_children(child, ended)
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        select.select([ended], [], [], _ROUND_SECONDS)


def _list_children() -> list[int]:
    """Return the ids of this process's children."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _open_child_end_descriptor() -> int:
    """Return a descriptor that becomes readable when the child process has ended."""
    ended, told = os.pipe()
    os.set_blocking(told, False)
    os.set_blocking(ended, False)
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
