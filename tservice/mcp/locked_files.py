"""Configuration files of the CLIs: bounded reading, atomic replacement, one writer at a time.

All functions block, and run in a thread.
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
    replace_atomically,
    sync_path,
    write_private,
)

LIMIT = 4 * 1024 * 1024
"""Largest file in bytes: Claude Code keeps more than its configuration in its file."""

SIGN_LIMIT = 50_000
"""Limit of characters that begin or separate values, or are escapes: parsing them holds the
interpreter.
"""

FOLDER_MODE = 0o700


class FileLocked(Exception):
    """Another service is writing this file."""


class FileChangedSinceRead(Exception):
    """The file was changed after it was read."""


def read_config(path: Path) -> str | None:
    """Return the text of the file, following symbolic links; C{None} if it does not exist.

    @raise FileError: no regular file, too large, not UTF-8, or a dangling link.
    @raise OSError: it cannot be read.
    """
    try:
        text = read_text(path, limit=LIMIT)
    except FileNotFoundError:
        if path.is_symlink():
            raise UnsafeFile(f"{path.name}: is a dangling symbolic link") from None
        return None
    if sum(map(text.count, ",:[{=\\")) > SIGN_LIMIT:
        raise UnparsableFile(f"{path.name}: contains more than {SIGN_LIMIT} values and escapes")
    return text


def find_lock_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for locks, the same for all services of this user.

    @param environ: contains the user's runtime folder, or not, for example after C{su}.
    """
    uid = os.getuid()
    runtime = [environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{uid}"]
    found = next((Path(each) for each in runtime if _is_own_folder(each, uid)), Path("/tmp"))  # noqa: S108
    return found / f"tservice-{uid}-locks"


@contextmanager
def hold_lock(path: Path, locks: Path) -> Iterator[None]:
    """Keep other services of this user from writing the file.

    The lock is a kernel lock on a file in C{locks} that is named after the path, links resolved.
    The lock file is removed while it is locked, so that a process which opened it earlier gets
    C{FileLocked}.

    @param locks: folder of this user, which is created with mode 0700.
    @raise Busy: another process holds it.
    @raise OSError: C{locks} cannot be created, or belongs to another user.
    """
    _prepare_lock_folder(locks)
    name = locks / f"{hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(name, flags, PRIVATE)
    try:
        _acquire_lock(descriptor)
        if not _is_same_file(name, descriptor):
            raise FileLocked
        try:
            yield
        finally:
            name.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def remove_old_lock(path: Path) -> None:
    """Remove the lock file that earlier versions left next to a configuration file.

    It is kept if an earlier version holds it, or if it was not made by the service.

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
        _acquire_lock(descriptor)
        beside.unlink()
    except FileLocked:
        return
    finally:
        os.close(descriptor)


def _acquire_lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileLocked from None


def _is_same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _prepare_lock_folder(folder: Path) -> None:
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not _is_own_folder(folder, os.getuid()) or stat.S_IMODE(folder.lstat().st_mode) & 0o077:
        raise PermissionError(errno.EPERM, f"{folder} is accessible to another user", str(folder))


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


def replace_config(path: Path, before: str | None, after: str, *, private: bool) -> None:
    """Replace C{before} by C{after}, and save C{before} to C{<file>.service-bak}.

    The file's folder is created with mode 0700 if missing.  The mode is kept, except that
    C{private} makes it 0600; a new file always has that mode.  A symbolic link is kept: its target
    is replaced.

    @param before: as returned by L{read_config}.
    @raise FileChangedSinceRead: the file has other contents; nothing is written.
    @raise FileError: as L{read_config}, or the file belongs to another user.
    @raise OSError: it cannot be written; the file is unchanged.
    """
    _make_folder(path.parent)
    target = path.resolve()
    _check_ancestors(path, target)
    mode = PRIVATE if before is None else _get_mode(target)
    if before is not None:
        write_private(path.with_name(f"{path.name}.service-bak"), before)
    with replace_atomically(target) as temporary:
        # Write bytes, to keep the line ends of the file.
        temporary.write_bytes(after.encode())
        temporary.chmod(PRIVATE if private else mode)
        sync_path(temporary)
        # Check the replaced file, as the path may lead to another one now.
        if path.resolve() != target or read_config(target) != before:
            raise FileChangedSinceRead


def _check_ancestors(*paths: Path) -> None:
    """Check that no other user can change the targets of C{paths}: root and this user own all
    folders.

    @raise PermissionError: another user owns a folder, or any user may write to it.
    """
    for folder in {folder for path in paths for folder in path.parents}:
        found = folder.stat()
        anybody = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if anybody or found.st_uid not in (0, os.geteuid()):
            raise PermissionError(
                errno.EPERM, "its folder can be changed by another user", str(folder)
            )


def _get_mode(target: Path) -> int:
    found = target.stat()
    if found.st_uid != os.geteuid():
        # A replacement would belong to this user, and the owner would lose access.
        raise PermissionError(errno.EPERM, "belongs to another user", str(target))
    return stat.S_IMODE(found.st_mode)
