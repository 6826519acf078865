"""A process that stays behind, for the case that the program dies before it can tidy up."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable, Collection, Iterator
from typing import NoReturn

_WELL = b"."


@contextlib.contextmanager
def guarded(keeps: Collection[int], tidy: Callable[[], None]) -> Iterator[None]:
    """Have C{tidy} called in a process of its own if this one dies in the block, as by SIGKILL.

    @param keeps: the descriptors that C{tidy} needs; the process holds no others.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC)
    # What ends the program must not end its guard, from its first moment on.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        guard = os.fork()
        if guard == 0:
            _watch(reader, keeps, tidy)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reader)
    try:
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            os.write(writer, _WELL)
        os.close(writer)
        # Under a parent that ignores SIGCHLD it is gone without anybody's asking.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(guard, 0)


def _watch(reader: int, keeps: Collection[int], tidy: Callable[[], None]) -> NoReturn:
    try:
        # Not of the program's session: the terminal's jobs are none of its business.
        os.setsid()
        _close_all_but({reader, *keeps})
        if os.read(reader, 1) != _WELL:
            tidy()
    finally:
        # Nothing of the program may go on here, nor an error of it be told twice.
        os._exit(0)


def _close_all_but(keeps: Collection[int]) -> None:
    """A socket that is held here too would not be closed when the program closes it."""
    edges = [-1, *sorted(keeps), os.sysconf("SC_OPEN_MAX")]
    for before, after in itertools.pairwise(edges):
        # An empty range that begins with 0 is all there is, by CPython and close_range(2).
        if before + 1 < after:
            os.closerange(before + 1, after)
