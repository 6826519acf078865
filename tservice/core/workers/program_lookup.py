"""Lookup of programs on C{PATH} in worker threads.

A folder of C{PATH} may be on a mount whose server is gone.  Access to it blocks for ever, so the
reactor's thread never does it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from threading import Thread

from twisted.internet.defer import Deferred

from tservice.core.workers.reachability import PROBE_SECONDS
from tservice.core.workers.worker_pool import SynchronousThreads, WorkerPool

FindProgram = Callable[[str, str], Deferred[str | None]]
"""Callable that returns the path of a program, given its name and a C{PATH}; C{None} if not found.

The Deferred may fail with a C{ServiceError}: 422: a folder does not answer; 429: too many requests
are waiting.
"""


def make_program_finder(files: WorkerPool | SynchronousThreads) -> FindProgram:
    """Return a function that looks for programs in the worker pool for files."""

    def find_program(name: str, path: str) -> Deferred[str | None]:
        look = partial(shutil.which, name, path=path)
        return files.run(look, "programs", PROBE_SECONDS)

    return find_program


def find_unresponsive_folders(path: str, seconds: float = PROBE_SECONDS) -> list[str]:
    """Return the folders of C{path} that do not answer in time, for the start before worker pools
    run.

    @param path: a value of C{PATH}.
    @param seconds: the limit for all folders together; this call blocks up to that time if one does
        not answer.
    """
    folders = [folder for folder in dict.fromkeys(path.split(":")) if folder.startswith("/")]
    asked = {
        folder: Thread(target=_probe_folder, args=(folder,), daemon=True) for folder in folders
    }
    for thread in asked.values():
        thread.start()
    everybody = Thread(target=_join_threads, args=(asked.values(),), daemon=True)
    everybody.start()
    everybody.join(seconds)
    return [folder for folder, thread in asked.items() if thread.is_alive()]


def _join_threads(threads: Iterable[Thread]) -> None:
    for thread in threads:
        thread.join()


def _probe_folder(folder: str) -> None:
    # The trailing "." makes a network mount query its server; a missing folder is an answer too.
    os.path.exists(os.path.join(folder, "."))
