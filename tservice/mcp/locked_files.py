"""Access to configuration files of the CLIs: bounded reading, atomic replacement, and locks against
concurrent writers.

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

from tservice.core.disk.files import (
    PRIVATE,
    UnparsableFile,
    UnsafeFile,
    read_text,
    replace_atomically,
    sync_path,
    write_private_file,
)

LIMIT = 4 * 1024 * 1024
"""Maximum size of a file in bytes. Claude Code's file contains more than the configuration."""

SIGN_LIMIT = 50_000
"""Maximum number of characters that begin or separate values, or are escapes. Parsing them blocks
the interpreter.
"""

FOLDER_MODE = 0o700


class FileLocked(Exception):
    """Error for a file that another service is writing."""


class FileChangedSinceRead(Exception):
    """Error for a file that was changed after the service had read it."""


def read_config(path: Path) -> str | None:
    """Return the text of the file, following symbolic links; C{None} if the file does not exist.

    @raise FileError: it is not a regular file, is too large, is not UTF-8, or is a dangling link.
    @raise OSError: the file cannot be read.
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
    """Return the path of the folder for lock files, which is the same for all services of this
    user.

    @param environ: environment. It may lack the user's runtime folder, for example after C{su}.
    """
    uid = os.getuid()
    runtime = [environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{uid}"]
    found = next((Path(each) for each in runtime if _is_own_folder(each, uid)), Path("/tmp"))  # noqa: S108
    return found / f"tservice-{uid}-locks"


@contextmanager
def hold_lock(path: Path, locks: Path) -> Iterator[None]:
    """Lock a configuration file against other services of this user while the block runs.

    The lock is a kernel lock on a file in C{locks}, whose name is derived from the path with links
    resolved. The lock file is removed before it is unlocked. A process that opened it earlier then
    gets L{FileLocked}.

    @param path: path of the configuration file.
    @param locks: folder for lock files of this user, which is created with mode 0700.
    @raise FileLocked: another process holds the lock.
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
    """Remove the lock file that an earlier version of the service left next to a configuration
    file.

    The file is kept if an earlier version holds the lock, or if the service did not create it.

    @raise OSError: the file cannot be removed.
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
    """Replace the contents C{before} of a file by C{after}, and save C{before} to
    C{<file>.service-bak}.

    The folder is created with mode 0700 if it is missing. The file's mode is kept; a new file has
    mode 0600. A symbolic link is kept, and its target is replaced.

    @param before: contents as returned by L{read_config}.
    @param private: true to set the mode to 0600.
    @raise FileChangedSinceRead: the file has other contents than C{before}. Nothing is written.
    @raise FileError: as in L{read_config}, or the file belongs to another user.
    @raise OSError: the file cannot be written, and is unchanged.
    """
    _make_folder(path.parent)
    target = path.resolve()
    _check_ancestors(path, target)
    mode = PRIVATE if before is None else _get_mode(target)
    if before is not None:
        write_private_file(path.with_name(f"{path.name}.service-bak"), before)
    with replace_atomically(target) as temporary:
        # Write bytes, to keep the line ends of the file.
        temporary.write_bytes(after.encode())
        temporary.chmod(PRIVATE if private else mode)
        sync_path(temporary)
        # Check the replaced file, as the path may lead to another one now.
        if path.resolve() != target or read_config(target) != before:
            raise FileChangedSinceRead


def _check_ancestors(*paths: Path) -> None:
    """Check that only root and this user can change the folders that lead to C{paths}.

    @raise PermissionError: another user owns a folder, or may write to it.
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
