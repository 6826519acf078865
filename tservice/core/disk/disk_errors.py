"""Errors of a disk that refuses writes: full, over quota, read-only or broken.

A request to store something then fails with a 422 that names the reason (protocol-errors).  A
change that has already happened cannot be refused.  Its write is deferred, see
C{Database.execute_or_defer}.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error

FULL = "the disk is full"
QUOTA = "the disk quota is used up"
READ_ONLY = "the file system is read-only"
BROKEN = "the disk reports an error"

_BY_ERRNO = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: QUOTA,
    errno.EROFS: READ_ONLY,
    errno.EIO: BROKEN,
}
_BY_SQLITE = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: BROKEN,
    # SQLite reports a used-up quota by the same code; the log has the extended code.
    sqlite3.SQLITE_IOERR: BROKEN,
}
_PRIMARY = 0xFF
"""Mask of the bits of an SQLite extended result code that hold the primary result code."""


class DiskFull(ServiceError):
    """Error 422 for data that the disk did not accept; nothing was changed.

    @ivar reason: description of the disk's problem, such as a full disk.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(ErrorCode.OPERATION_FAILED, f"{reason}: the change was not saved")
        self.reason = reason

    def describe_unsaved_change(self, done: str = "done", again: str = "undo it") -> ServiceError:
        """Return an error that says that the change is in effect but not on disk.

        @param done: description of the change that has happened.
        @param again: description of what a restart does as long as the change is not on disk.
        """
        return make_failure_error(f"{self.reason}: {done}, but a restart now would {again}")


def find_disk_problem(error: BaseException) -> str | None:
    """Return a description of the disk problem that C{error} reports.

    @return: C{None} if C{error} is not about a disk that refuses writes.
    """
    if isinstance(error, DiskFull):
        return error.reason
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        return None if code is None else _BY_SQLITE.get(code & _PRIMARY)
    if isinstance(error, OSError):
        return _BY_ERRNO.get(error.errno or 0)
    return None


@contextmanager
def raise_unsaved_change_on_disk_error(
    done: str = "done", again: str = "undo it"
) -> Iterator[None]:
    """Turn a failed write in the block into an error that the change is in effect but not on disk.

    @param done: see L{DiskFull.describe_unsaved_change}.
    @param again: see L{DiskFull.describe_unsaved_change}.
    """
    try:
        yield
    except DiskFull as error:
        raise error.describe_unsaved_change(done, again) from error


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Turn disk errors in the block into L{DiskFull}; other exceptions are not changed."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = find_disk_problem(error)
        if reason is None:
            raise
        raise DiskFull(reason) from error
