"""Programs on C{PATH}, of which a folder may lie on a mount whose server is gone.

Whoever looks into such a folder waits for ever, so the reactor's thread looks into none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from threading import Thread

from twisted.internet.defer import Deferred

from tservice.core.doors.reach import PROBE_SECONDS
from tservice.core.doors.threads import Door, NoThreads

Find = Callable[[str, str], Deferred[str | None]]
"""Where a program is, by its name and a C{PATH}; C{None}: nowhere.

May fail with a C{ServiceError}: 422: a folder does not answer; 429: too much waits.
"""


def finder(files: Door | NoThreads) -> Find:
    """Looks for programs behind the door for files."""

    def find(name: str, path: str) -> Deferred[str | None]:
        look = partial(shutil.which, name, path=path)
        return files.run(look, "programs", PROBE_SECONDS)

    return find


def silent_folders(path: str, seconds: float = PROBE_SECONDS) -> list[str]:
    """The folders of a C{PATH} that do not answer in time, for a start before there is a door.

    @param seconds: for all of them together; this blocks as long where one is silent.
    """
    folders = [folder for folder in dict.fromkeys(path.split(":")) if folder.startswith("/")]
    asked = {folder: Thread(target=_look, args=(folder,), daemon=True) for folder in folders}
    for thread in asked.values():
        thread.start()
    everybody = Thread(target=_await, args=(asked.values(),), daemon=True)
    everybody.start()
    everybody.join(seconds)
    return [folder for folder, thread in asked.items() if thread.is_alive()]


def _await(threads: Iterable[Thread]) -> None:
    for thread in threads:
        thread.join()


def _look(folder: str) -> None:
    # A folder that a server serves is asked for by its content; that it is missing is an answer.
    os.path.exists(os.path.join(folder, "."))
