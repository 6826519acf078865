"""Thread that starts a child process, which inherits restrictions of the thread.

Restrictions such as those of Landlock apply to one thread and cannot be undone.  A thread of its
own keeps them from the service.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread


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
    Thread(target=run_thread, name="child starter", daemon=True).start()
    started.wait()
    if errors:
        raise errors[0]
    return released.set
