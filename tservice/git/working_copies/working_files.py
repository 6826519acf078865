"""Unfiltered reading and exact replacement of files in a working tree.

A path is followed one folder at a time, and never through a symbolic link.  All functions block.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.git.interfaces import WorkingFile
from tservice.git.model import hash_blob, is_binary_content

READ_LIMIT = 8 * 1024 * 1024
"""Maximum bytes of a file whose content is read.  The hash of a larger one is that of its size and
times."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXCHANGE = 2
_FORBIDDEN = frozenset({b"", b".", b"..", b".git"})
"""Components that no path of a file in a working tree has."""
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_LINK = "120000"


def read_working_file(root: bytes, path: bytes, content_limit: int = 0) -> WorkingFile:
    """Return the file at C{path} below C{root}; see L{WorkingFile}.

    @param content_limit: maximum bytes of content that is returned.
    @raise ServiceError: 422: the file cannot be read.
    """
    try:
        with _open_parent(root, path) as (folder, name):
            return _read_entry(folder, name, content_limit)
    except OSError as error:
        if error.errno in _MISSING:
            return WorkingFile()
        raise make_failure_error(f"path: {os.strerror(error.errno or 0).lower()}") from None


def replace_working_file(root: bytes, path: bytes, expected: str, new: WorkingFile) -> WorkingFile:
    """Replace a file if it has the expected hash; see
    L{tservice.git.interfaces.WorkingCopy.replace_file}.
    """
    try:
        with _open_parent(root, path, make=new.exists) as (folder, name):
            return _replace_entry(folder, name, expected, new)
    except FileNotFoundError:
        raise _make_changed_error() from None
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise ServiceError(ErrorCode.FORBIDDEN, "path: permission denied") from None
        raise make_failure_error(f"path: {os.strerror(error.errno or 0).lower()}") from None


@contextmanager
def _open_parent(root: bytes, path: bytes, *, make: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield a descriptor of the folder that contains C{path}, and the name in it.

    @param make: true to make missing folders.
    """
    *folders, name = path.split(b"/")
    if any(each.lower() in _FORBIDDEN for each in (*folders, name)):
        raise make_failure_error("path: not a file of the working tree")
    here = os.open(root, _FOLDER)
    try:
        if os.readlink(b"/proc/self/fd/%d" % here) != root:
            # A link took the place of a folder above.
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=here)
            inner = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        yield here, name
    finally:
        os.close(here)


def _read_entry(folder: int, name: bytes, content_limit: int) -> WorkingFile:
    status = os.lstat(name, dir_fd=folder)
    if stat.S_ISLNK(status.st_mode):
        return _describe(_LINK, os.readlink(name, dir_fd=folder), content_limit)
    if not stat.S_ISREG(status.st_mode):
        return WorkingFile()
    # A FIFO may have replaced the file: never wait for one.
    with open(os.open(name, _READ, dir_fd=folder), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return WorkingFile()
        mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
        data = file.read(READ_LIMIT + 1)
    if len(data) <= READ_LIMIT:
        return _describe(mode, data, content_limit)
    times = b"%d %d %d" % (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return WorkingFile(
        mode=mode, hash=hash_blob(b"large " + times), size=status.st_size, is_binary=True
    )


def _describe(mode: str, data: bytes, content_limit: int) -> WorkingFile:
    binary = is_binary_content(data)
    unfinished = bool(data) and not data.endswith(b"\n")
    return WorkingFile(
        mode=mode,
        hash=hash_blob(data),
        size=len(data),
        lines=0 if binary else data.count(b"\n") + unfinished,
        is_binary=binary,
        data=data if content_limit > 0 and len(data) <= content_limit else None,
    )


def _replace_entry(folder: int, name: bytes, expected: str, new: WorkingFile) -> WorkingFile:
    before = _read_or_missing(folder, name)
    if before.hash != expected:
        raise _make_changed_error()
    if not before.exists:
        _create_entry(folder, name, new)
        return before
    if before.data is None:
        raise make_failure_error("path: the file is too large")
    spare = b".review-%s.part" % secrets.token_hex(8).encode()
    if not new.exists:
        # Moving it away is undone if it turns out to be another file.
        os.rename(name, spare, src_dir_fd=folder, dst_dir_fd=folder)
        _check_displaced(folder, name, spare, before, exchanged=False)
        return before
    _write_entry(folder, spare, new, os.lstat(name, dir_fd=folder))
    try:
        _exchange(folder, spare, name)
    except BaseException:
        os.unlink(spare, dir_fd=folder)
        raise
    _check_displaced(folder, name, spare, before, exchanged=True)
    return before


def _read_or_missing(folder: int, name: bytes) -> WorkingFile:
    try:
        found = _read_entry(folder, name, READ_LIMIT)
    except FileNotFoundError:
        return WorkingFile()
    if not found.exists:
        raise make_failure_error("path: neither a file nor a symbolic link")
    return found


def _create_entry(folder: int, name: bytes, new: WorkingFile) -> None:
    if not new.exists:
        return
    spare = b".review-%s.part" % secrets.token_hex(8).encode()
    _write_entry(folder, spare, new, None)
    try:
        os.link(spare, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise _make_changed_error() from None
    finally:
        os.unlink(spare, dir_fd=folder)


def _check_displaced(
    folder: int, name: bytes, spare: bytes, before: WorkingFile, *, exchanged: bool
) -> None:
    """Remove the displaced file C{spare}, or put it back if it is not the one that was read.

    @raise ServiceError: 409: it was put back.
    """
    now = _read_entry(folder, spare, 0)
    if (now.hash, now.mode) == (before.hash, before.mode):
        os.unlink(spare, dir_fd=folder)
        return
    if exchanged:
        _exchange(folder, spare, name)
        os.unlink(spare, dir_fd=folder)
    else:
        with suppress(FileExistsError):
            os.link(spare, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            os.unlink(spare, dir_fd=folder)
    raise _make_changed_error()


def _write_entry(folder: int, name: bytes, new: WorkingFile, like: os.stat_result | None) -> None:
    """Write a new file whose owner and permissions are those of C{like}; after a failure there is
    none.
    """
    data = new.data or b""
    if new.mode == _LINK:
        os.symlink(data, name, dir_fd=folder)
        return
    mode = 0o777 if new.mode == "100755" else 0o666
    descriptor = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        _fill_file(descriptor, data, new, like)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise


def _fill_file(descriptor: int, data: bytes, new: WorkingFile, like: os.stat_result | None) -> None:
    with open(descriptor, "wb") as file:
        file.write(data)
        if like is not None and stat.S_ISREG(like.st_mode):
            with suppress(PermissionError):
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            permissions = stat.S_IMODE(like.st_mode) & ~0o111
            runs = (permissions & 0o444) >> 2 if new.mode == "100755" else 0
            os.fchmod(file.fileno(), permissions | runs)
        file.flush()
        os.fsync(file.fileno())


def _exchange(folder: int, first: bytes, second: bytes) -> None:
    """Exchange two entries of a folder in one step."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(folder, first, folder, second, _EXCHANGE):
        number = ctypes.get_errno()
        if number == errno.EINVAL:
            raise make_failure_error("path: its file system cannot replace files safely")
        raise OSError(number, os.strerror(number))


def _make_changed_error() -> ServiceError:
    return make_conflict_error("hash: the file was changed since you looked at it")
