"""Guard process that cleans up if C{tsctl} is killed before it can do so."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable, Collection, Iterator
from typing import NoReturn

_WELL = b"."


@contextlib.contextmanager
def guard_block(keeps: Collection[int], tidy: Callable[[], None]) -> Iterator[None]:
    """Run the block, and call C{tidy} in a separate process if this process dies in it, as by
    SIGKILL.

    @param keeps: descriptors that C{tidy} needs. The separate process closes all others.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC)
    # Signals that end the program must not end its guard, from the start.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        guard = os.fork()
        if guard == 0:
            _run_guard(reader, keeps, tidy)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reader)
    try:
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            os.write(writer, _WELL)
        os.close(writer)
        # If the parent ignores SIGCHLD, the kernel has reaped the guard already.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(guard, 0)


def _run_guard(reader: int, keeps: Collection[int], tidy: Callable[[], None]) -> NoReturn:
    try:
        # Leave the program's session: the terminal's signals must not reach the guard.
        os.setsid()
        _close_other_descriptors({reader, *keeps})
        if os.read(reader, 1) != _WELL:
            tidy()
    finally:
        # Do not run the program's own cleanup here, and do not report its error twice.
        os._exit(0)


def _close_other_descriptors(keeps: Collection[int]) -> None:
    """Close all other descriptors, because a socket inherited by the guard process would stay
    open.
    """
    edges = [-1, *sorted(keeps), os.sysconf("SC_OPEN_MAX")]
    for before, after in itertools.pairwise(edges):
        # CPython and close_range(2) take an empty range that begins with 0 for all descriptors.
        if before + 1 < after:
            os.closerange(before + 1, after)
