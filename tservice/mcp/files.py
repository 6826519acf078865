"""The CLIs' configuration files: read with bounds, replaced whole, one writer at a time.

All of it blocks, and is for a thread.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tservice.core.files import (
    PRIVATE,
    UnparsableFile,
    UnsafeFile,
    read_text,
    replacement,
    sync,
    write_private,
)

LIMIT = 4 * 1024 * 1024
"""Bytes of a file: Claude Code keeps more than its configuration in its own."""

SIGN_LIMIT = 50_000
"""Signs that begin or part values in a file, or are escapes: reading them costs everybody time."""

FOLDER_MODE = 0o700


class Busy(Exception):
    """Another service is writing this file."""


class FileChanged(Exception):
    """The file is no longer what it was when it was read."""


def read(path: Path) -> str | None:
    """What is in the file, symbolic links followed; C{None}: there is none.

    @raise FileError: no regular file, too large, not UTF-8, or a link that leads nowhere.
    @raise OSError: it cannot be read.
    """
    try:
        text = read_text(path, limit=LIMIT)
    except FileNotFoundError:
        if path.is_symlink():
            raise UnsafeFile(f"{path.name}: is a symbolic link that leads nowhere") from None
        return None
    if sum(map(text.count, ",:[{=\\")) > SIGN_LIMIT:
        raise UnparsableFile(f"{path.name}: holds more than {SIGN_LIMIT} values and escapes")
    return text


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other services of this user from writing the file; its folder is made, mode 0700.

    The lock is the kernel's, on C{<file>.service-lock}, which stays: to remove it would take the
    lock from under whoever waits for it.

    @raise Busy: another holds it.
    @raise OSError: the folder cannot be made or written to.
    """
    folder = path.parent
    for one in reversed((folder, *folder.parents)):
        if not one.exists():
            one.mkdir(mode=FOLDER_MODE, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(f"{path}.service-lock", flags, PRIVATE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        yield
    finally:
        os.close(descriptor)


def replace(path: Path, before: str | None, after: str, *, private: bool) -> None:
    """Put C{after} in place of C{before}, which goes to C{<file>.service-bak}.

    The mode stays, but for C{private}, which makes it 0600; a new file has that anyway.  A
    symbolic link stays too: what it leads to is replaced.

    @param before: as L{read} gave it.
    @raise FileChanged: that is not in the file any more; nothing is written.
    @raise FileError: as L{read}, or another user's.
    @raise OSError: it cannot be written; the file is as before.
    """
    target = path.resolve()
    _check_ways(path, target)
    mode = PRIVATE if before is None else _mode(target)
    if before is not None:
        write_private(path.with_name(f"{path.name}.service-bak"), before)
    with replacement(target) as temporary:
        # As bytes, for the ends of lines are the file's own.
        temporary.write_bytes(after.encode())
        temporary.chmod(PRIVATE if private else mode)
        sync(temporary)
        # Of what is replaced, not of what the path leads to by now.
        if path.resolve() != target or read(target) != before:
            raise FileChanged


def _check_ways(*paths: Path) -> None:
    """See that nobody else can change where C{paths} lead: root and this user own the way.

    @raise PermissionError: another user owns a folder of it, or anybody may write there.
    """
    for folder in {folder for path in paths for folder in path.parents}:
        found = folder.stat()
        anybody = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if anybody or found.st_uid not in (0, os.geteuid()):
            raise PermissionError(errno.EPERM, "its folder is open to another user", str(folder))


def _mode(target: Path) -> int:
    found = target.stat()
    if found.st_uid != os.geteuid():
        # A file put in its place would be ours, and its owner locked out.
        raise PermissionError(errno.EPERM, "belongs to another user", str(target))
    return stat.S_IMODE(found.st_mode)
