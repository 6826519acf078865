"""The CLIs' configuration files: read with bounds, replaced whole, one writer at a time.

All of it blocks, and is for a thread.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
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


def lock_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for locks, the same for all services of this user.

    @param environ: has the user's runtime folder, or not, as when C{su} started the service.
    """
    uid = os.getuid()
    runtime = [environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{uid}"]
    found = next((Path(each) for each in runtime if _is_own_folder(each, uid)), Path("/tmp"))  # noqa: S108
    return found / f"tservice-{uid}-locks"


@contextmanager
def locked(path: Path, locks: Path) -> Iterator[None]:
    """Keep other services of this user from writing the file.

    The lock is the kernel's, on a file in C{locks} that is named after the path, links resolved.
    That file is removed while it is locked, so whoever opened it before finds it gone and is told
    C{Busy}.

    @param locks: folder of this user, which is made with mode 0700.
    @raise Busy: another holds it.
    @raise OSError: C{locks} cannot be made, or is not this user's own.
    """
    _prepare_locks(locks)
    name = locks / f"{hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(name, flags, PRIVATE)
    try:
        _take(descriptor)
        if not _is_at(name, descriptor):
            raise Busy
        try:
            yield
        finally:
            name.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def remove_old_lock(path: Path) -> None:
    """Remove the lock file that earlier versions left beside a configuration file.

    It is left where an earlier version holds it, and where it is not what they made.

    @raise OSError: it cannot be removed.
    """
    beside = Path(f"{path}.service-lock")
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    if not beside.is_file() or beside.is_symlink():
        return
    descriptor = os.open(beside, flags)
    try:
        found = os.fstat(descriptor)
        if found.st_size or found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode):
            return
        _take(descriptor)
        beside.unlink()
    except Busy:
        return
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Busy from None


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _prepare_locks(folder: Path) -> None:
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not _is_own_folder(folder, os.getuid()) or stat.S_IMODE(folder.lstat().st_mode) & 0o077:
        raise PermissionError(errno.EPERM, f"{folder} is open to another user", str(folder))


def _is_own_folder(path: str | Path, uid: int) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid and os.path.isabs(path)


def _make_folder(folder: Path) -> None:
    for one in reversed((folder, *folder.parents)):
        if not one.exists():
            one.mkdir(mode=FOLDER_MODE, exist_ok=True)


def replace(path: Path, before: str | None, after: str, *, private: bool) -> None:
    """Put C{after} in place of C{before}, which goes to C{<file>.service-bak}.

    The file's folder is made, mode 0700.  The mode stays, but for C{private}, which makes it
    0600; a new file has that anyway.  A symbolic link stays too: what it leads to is replaced.

    @param before: as L{read} gave it.
    @raise FileChanged: that is not in the file any more; nothing is written.
    @raise FileError: as L{read}, or another user's.
    @raise OSError: it cannot be written; the file is as before.
    """
    _make_folder(path.parent)
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
