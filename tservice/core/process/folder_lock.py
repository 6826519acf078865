"""Lock that reserves the data folder for one service process."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from twisted.application.service import Service

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import write_private_file
from tservice.core.kernel.errors import StartError

LOCK_NAME = "lock"
ADDRESS_NAME = "address"
"""File with the URLs of the running service, one per line, for programs of its user."""
PRIVATE = 0o700


def prepare_folder(folder: Path) -> None:
    """Create C{folder} with mode 0700, or set that mode on an existing folder.

    A folder that others could write to is refused instead of repaired, because its files may have
    been planted.

    @raise StartError: the folder cannot be created, belongs to another user, is writable by others,
        or is not a folder.
    """
    try:
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise StartError(f"data-dir: {folder}: {error.strerror}") from None
    if found.st_uid != os.geteuid():
        raise StartError(f"data-dir: {folder} belongs to another user (uid {found.st_uid})")
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o022:
        raise StartError(f"data-dir: {folder} can be written to by others (mode {mode:04o})")
    if mode != PRIVATE:
        folder.chmod(PRIVATE)


class FolderLock(Service):
    """Service that holds C{<data>/lock} from start to stop.

    The kernel holds the lock (flock), so it ends with the process in any case.  The pid in the file
    is only for the error message.  The descriptor is closed on exec, so no multiplexer server keeps
    the lock of a dead service.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def startService(self) -> None:
        """Acquire the lock.

        @raise StartError: another service holds the folder; the text names its pid.
        """
        prepare_folder(self._folder)
        self._descriptor = self._acquire_lock()
        super().startService()

    def stopService(self) -> None:
        super().stopService()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _acquire_lock(self) -> int:
        path = self._folder / LOCK_NAME
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StartError(f"data-dir: {path}: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write_pid(descriptor)
        except BlockingIOError:
            pid = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise StartError(
                f"another tservice (pid {pid}) uses {self._folder}: "
                "stop it, or choose another --data-dir"
            ) from None
        except OSError as error:
            os.close(descriptor)
            raise StartError(f"data-dir: {path}: {error.strerror}") from None
        return descriptor


def write_addresses(path: Path, urls: Sequence[str]) -> None:
    """Write the file L{ADDRESS_NAME}.

    @raise OSError: the disk is full.
    """
    write_private_file(path, "".join(f"{url}\n" for url in urls))


def _write_pid(descriptor: int) -> None:
    """Write the pid to the lock file, for the error message of another service.

    A failed write is ignored: on a full disk the service must start, so that users can free space.
    """
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    except OSError as error:
        if find_disk_problem(error) is None:
            raise
