"""Thread that starts a child process, which inherits restrictions of the thread.

Restrictions such as those of Landlock apply to one thread and cannot be undone.  A thread of its
own keeps them from the service.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from twisted.internet import process

SPARE = 16
"""Number of descriptors that starting one process may open."""


def start_in_thread(
    restrict: Callable[[], None], spawn: Callable[[], object]
) -> Callable[[], None]:
    """Call C{restrict} and then C{spawn} in a new thread, and wait for them.

    The kernel sends a parent-death signal when the thread ends that started the process.  The
    thread therefore waits until it is released.

    @return: function that ends the thread; call it when the child has ended.
    @raise Exception: any error of both functions; the thread has ended then.
    """
    started, released = Event(), Event()
    errors: list[BaseException] = []

    def run_thread() -> None:
        try:
            restrict()
            spawn()
        except BaseException as error:
            errors.append(error)
            released.set()
        started.set()
        released.wait()

    # A child that cannot be killed must not keep the service from ending.
    with _remember_descriptors():
        Thread(target=run_thread, name="child starter", daemon=True).start()
        started.wait()
    if errors:
        raise errors[0]
    return released.set


@contextmanager
def _remember_descriptors() -> Iterator[None]:
    """Give Twisted the numbers of the descriptors that may be open.

    Twisted looks for them in C{/proc} to close them in the child, but a restricted thread may be
    unable to read that.  Numbers without a descriptor do no harm.
    """
    detector: Any = process.detector
    try:
        last = max(map(int, os.listdir("/proc/self/fd")))
    except OSError:
        # Twisted tries all numbers then.
        yield
        return
    names = [str(number) for number in range(last + SPARE)]
    detector.listdir = lambda folder: names
    try:
        yield
    finally:
        del detector.listdir
