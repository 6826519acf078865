"""Making folders and files so that all of it can be taken back."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tservice.core.files import sync

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_MODE = 0o644


class Making:
    """What one call makes, in order.

    It is worked on in a thread, which may be given up: whoever comes second, the thread that is
    done or the caller who waits no more, takes back what was made.
    """

    def __init__(self) -> None:
        self._made: list[Path] = []
        self._lock = Lock()
        self._done = self._abandoned = False

    def run(self, work: Callable[[Making], None]) -> Making:
        """Do C{work}; what fails leaves nothing behind, nor does what nobody waits for any more.

        @raise OSError: as C{work} does.
        """
        try:
            work(self)
        except BaseException:
            self.undo()
            raise
        with self._lock:
            self._done = True
            abandoned = self._abandoned
        if abandoned:
            self.undo()
        return self

    def abandon(self) -> bool:
        """Its caller waits no more; whether the thread is done, so that L{undo} is the caller's."""
        with self._lock:
            self._abandoned = True
            return self._done

    def folders(self, path: Path) -> None:
        """Make C{path} and what is missing above it."""
        if path.is_dir():
            return
        if path.parent != path:
            self.folders(path.parent)
        self.folder(path)

    def folder(self, path: Path) -> None:
        """Make one folder.

        @raise FileExistsError: something is there.
        """
        path.mkdir()
        self._made.append(path)

    def file(self, path: Path, text: str) -> None:
        """Make a file, flushed to the disk.

        @raise FileExistsError: something is there, if only a link.
        """
        descriptor = os.open(path, _NEW_FILE, FILE_MODE)
        self._made.append(path)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())

    def by_others(self, paths: tuple[Path, ...], work: Callable[[], object]) -> None:
        """Have C{work} make C{paths}, the outer ones first; those that are there stay."""
        self._made += [path for path in paths if not os.path.lexists(path)]
        work()

    def finish(self, folder: Path) -> None:
        """What is in C{folder}, and it itself, is on the disk."""
        sync(folder)
        sync(folder.parent)

    def undo(self) -> None:
        """Take it back, the last first; what others have put into a folder stays."""
        for path in reversed(self._made):
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()
        self._made.clear()
