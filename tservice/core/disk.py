"""What a disk says when it takes nothing more: full, quota used up, read-only, broken.

Whoever asks for something to be kept then gets a 422 that says so (protocol-errors).  What has
happened anyway and cannot be refused is owed to the disk: see C{Database.later}.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from tservice.core.errors import ErrorCode, ServiceError, failed

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
    # SQLite's word for a used-up quota too; the log has the code.
    sqlite3.SQLITE_IOERR: BROKEN,
}
_PRIMARY = 0xFF
"""The bits of an extended result code that name its family."""


class NotKept(ServiceError):
    """The disk did not take it: a 422, and nothing has changed.

    @ivar reason: what is the matter with the disk.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(ErrorCode.OPERATION_FAILED, f"{reason}: it cannot be kept")
        self.reason = reason

    def though(self, done: str = "done", again: str = "undo it") -> ServiceError:
        """What to say of that which holds at once all the same.

        @param done: what has happened.
        @param again: what a restart would do before the disk has it.
        """
        return failed(f"{self.reason}: {done}, but a restart now would {again}")


def trouble(error: BaseException) -> str | None:
    """What is the matter with the disk by C{error}; C{None}: it is about something else."""
    if isinstance(error, NotKept):
        return error.reason
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        return None if code is None else _BY_SQLITE.get(code & _PRIMARY)
    if isinstance(error, OSError):
        return _BY_ERRNO.get(error.errno or 0)
    return None


@contextmanager
def holding(done: str = "done", again: str = "undo it") -> Iterator[None]:
    """Says of what the disk does not keep in the block that it holds at once all the same.

    @param done: as for L{NotKept.though}, as is C{again}.
    """
    try:
        yield
    except NotKept as error:
        raise error.though(done, again) from error


@contextmanager
def keeping() -> Iterator[None]:
    """Turns what a disk says in the block into L{NotKept}; all other errors pass."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = trouble(error)
        if reason is None:
            raise
        raise NotKept(reason) from error
