"""Creation of folders and files that can be rolled back."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tservice.core.files import sync_path

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_MODE = 0o644


class CreatedFiles:
    """Paths that one call makes, in order.

    The work runs in a thread that may be given up.  Either the finished thread or the waiting
    caller rolls back, whichever comes second.
    """

    def __init__(self) -> None:
        self._made: list[Path] = []
        self._lock = Lock()
        self._done = self._abandoned = False

    def run_work(self, work: Callable[[CreatedFiles], None]) -> CreatedFiles:
        """Do C{work}; roll back if it fails, or if its caller gave up.

        @raise OSError: as C{work} does.
        """
        try:
            work(self)
        except BaseException:
            self.roll_back()
            raise
        with self._lock:
            self._done = True
            abandoned = self._abandoned
        if abandoned:
            self.roll_back()
        return self

    def give_up(self) -> bool:
        """Give up waiting; return true if the thread is done, so that the caller has to call
        L{roll_back}.
        """
        with self._lock:
            self._abandoned = True
            return self._done

    def make_folders(self, path: Path) -> None:
        """Make C{path} and the missing folders above it."""
        if path.is_dir():
            return
        if path.parent != path:
            self.make_folders(path.parent)
        self.make_folder(path)

    def make_folder(self, path: Path) -> None:
        """Make one folder.

        @raise FileExistsError: something is there.
        """
        path.mkdir()
        self._made.append(path)

    def make_file(self, path: Path, text: str) -> None:
        """Make a file, flushed to the disk.

        @raise FileExistsError: something is there, if only a link.
        """
        descriptor = os.open(path, _NEW_FILE, FILE_MODE)
        self._made.append(path)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())

    def record_created(self, paths: tuple[Path, ...], work: Callable[[], object]) -> None:
        """Run C{work}, which makes C{paths}, the outer ones first; existing ones are not rolled
        back.
        """
        self._made += [path for path in paths if not os.path.lexists(path)]
        work()

    def flush_folder(self, folder: Path) -> None:
        """Flush C{make_folder} and its entry to the disk."""
        sync_path(folder)
        sync_path(folder.parent)

    def roll_back(self) -> None:
        """Remove what was made, the last first; files that others put into a folder stay."""
        for path in reversed(self._made):
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()
        self._made.clear()
