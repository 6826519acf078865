"""Creation of folders and files, with a record by which it can be rolled back."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tservice.core.disk.files import sync_path

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_MODE = 0o644


class CreatedFiles:
    """Record of the paths that one operation creates, in order.

    The operation runs in a thread, and its caller may stop waiting for it.  Of the thread and the
    caller, the one that finishes last rolls back.
    """

    def __init__(self) -> None:
        self._made: list[Path] = []
        self._lock = Lock()
        self._done = self._abandoned = False

    def run_work(self, work: Callable[[CreatedFiles], None]) -> CreatedFiles:
        """Call C{work} with this record, and return the record.

        Roll back if C{work} fails, or if the caller no longer waits.

        @raise OSError: raised by C{work}.
        """
        try:
            work(self)
        except BaseException:
            self.remove_created_paths()
            raise
        with self._lock:
            self._done = True
            abandoned = self._abandoned
        if abandoned:
            self.remove_created_paths()
        return self

    def abandon_work(self) -> bool:
        """Stop waiting for the thread.

        @return: true if the thread has already finished; the caller then has to call
            L{remove_created_paths}.
        """
        with self._lock:
            self._abandoned = True
            return self._done

    def make_folders(self, path: Path) -> None:
        """Create C{path} and its missing parent folders."""
        if path.is_dir():
            return
        if path.parent != path:
            self.make_folders(path.parent)
        self.make_folder(path)

    def make_folder(self, path: Path) -> None:
        """Create one folder.

        @raise FileExistsError: the path exists.
        """
        path.mkdir()
        self._made.append(path)

    def make_file(self, path: Path, text: str) -> None:
        """Create a file and flush it to the disk.

        @raise FileExistsError: the path exists, also as a dangling symbolic link.
        """
        descriptor = os.open(path, _NEW_FILE, FILE_MODE)
        self._made.append(path)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())

    def record_created(self, paths: tuple[Path, ...], work: Callable[[], object]) -> None:
        """Call C{work}, which creates C{paths}, and record those that did not exist before.

        @param paths: parent folders before their content.
        """
        self._made += [path for path in paths if not os.path.lexists(path)]
        work()

    def flush_folder(self, folder: Path) -> None:
        """Flush a folder, and its entry in the parent folder, to the disk."""
        sync_path(folder)
        sync_path(folder.parent)

    def remove_created_paths(self) -> None:
        """Remove the recorded paths, newest first.

        A folder that has other content is kept.
        """
        for path in reversed(self._made):
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()
        self._made.clear()
