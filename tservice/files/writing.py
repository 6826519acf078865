"""Atomic saving of an edited file that never overwrites later changes by others
(protocol-files).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from attrs import frozen

from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_not_found_error,
)
from tservice.files.confined_path import AccessRules, ConfinedEntry, ConfinedFolder
from tservice.files.model import TEXT_BYTES
from tservice.files.reading.text_content import check_not_secret, read_up_to
from tservice.files.renaming import rename_exclusively

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o644
_CONFIGURES = (
    "path: this file configures git or an agent, which could run commands by it; it needs the grant"
    " to bypass permissions"
)

TURN_SECONDS = 10.0
_TURNS = tuple(threading.Lock() for _ in range(64))
"""Locks that make saves of the same file wait for each other. Unrelated files may share a lock."""


@frozen(kw_only=True)
class FileEdit:
    """New contents of a file, and the conditions for saving them.

    @ivar base_hash: SHA-256 of the text before the edit. C{None} means that the file did not exist.
    @ivar force: true to overwrite later changes.
    @ivar runs: returns true if a file at this absolute path could make git or an agent run a
        command. Saving such a file needs the grant to bypass permissions. C{None} if the caller has
        the grant.
    """

    path: str
    content: bytes
    base_hash: str | None
    force: bool = False
    runs: Callable[[str], bool] | None = None


def save_edit(workspace: str, edit: FileEdit, closed: AccessRules) -> dict[str, Any]:
    """Save an edit and return the body of the response to C{PUT file-content}.

    @raise ServiceError: 400 if it is not a regular file. 403 if it is outside, a secret, or a file
        that needs the grant. 404 if it was removed. 409 if it was changed, or exists already.
    @raise OSError: the file may not be written, or the disk is full.
    """
    with ConfinedFolder(workspace, closed) as beneath, beneath.resolve_path(edit.path) as spot:
        check_not_secret(spot)
        if edit.runs is not None and any(map(edit.runs, spot.paths)):
            raise ServiceError(ErrorCode.FORBIDDEN, _CONFIGURES)
        if spot.status is not None:
            spot.check_regular()
        with _hold_lock(os.fstat(spot.folder), spot.names[-1]):
            status = _write_file(spot, edit)
    return {
        "path": spot.path,
        "size": len(edit.content),
        "mtimeMs": status.st_mtime_ns // 1_000_000,
        "hash": _hash_content(edit.content),
    }


def _write_file(spot: ConfinedEntry, edit: FileEdit) -> os.stat_result:
    name = spot.names[-1]
    temporary = f".edit-{secrets.token_hex(8)}.part".encode()
    descriptor = os.open(temporary, _NEW, 0o600, dir_fd=spot.folder)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(edit.content)
            stream.flush()
            _copy_attributes(descriptor, _check_unchanged(spot, edit))
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        _rename_into_place(spot.folder, temporary, name, new=spot.status is None and not edit.force)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=spot.folder)
        raise
    _sync_folder(spot.folder)
    return status


def _check_unchanged(spot: ConfinedEntry, edit: FileEdit) -> os.stat_result | None:
    """Check that the file is the one that was edited, and return its status; C{None} for a new
    file.

    @raise ServiceError: 404 or 409 if the file was removed, changed or created by others.
    """
    try:
        found = os.open(
            spot.names[-1], os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=spot.folder
        )
    except FileNotFoundError:
        if edit.base_hash is not None and not edit.force:
            raise make_not_found_error("File") from None
        return None
    try:
        now = ConfinedEntry(
            names=spot.names, folder=spot.folder, descriptor=found, status=os.fstat(found)
        )
        now.check_regular()
        if not edit.force and _hash_file(now) != edit.base_hash:
            raise make_conflict_error(
                "path: the file was changed since you opened it"
                if edit.base_hash
                else "path: the file exists already"
            )
        return now.get_status_or_raise()
    finally:
        os.close(found)


def _hash_file(spot: ConfinedEntry) -> str:
    """Return the SHA-256 of a file, or an empty string if it is too large to have been edited."""
    if spot.get_status_or_raise().st_size > TEXT_BYTES:
        return ""
    descriptor = spot.open_file()
    try:
        return _hash_content(read_up_to(descriptor, TEXT_BYTES))
    finally:
        os.close(descriptor)


def _copy_attributes(descriptor: int, before: os.stat_result | None) -> None:
    """Give a new file the mode and owner of the file that it replaces.

    @param before: status of the replaced file; C{None} if there is none.
    """
    if before is None:
        os.fchmod(descriptor, _MODE)
        return
    with suppress(PermissionError):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _rename_into_place(folder: int, temporary: bytes, name: bytes, *, new: bool) -> None:
    """Rename the temporary file to its final name.

    @param new: true if no file with that name may exist.
    @raise ServiceError: 409 if C{new} is true and the name exists.
    """
    if not new:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        rename_exclusively(folder, temporary, name)
    except FileExistsError:
        raise make_conflict_error("path: the file exists already") from None


def _sync_folder(folder: int) -> None:
    descriptor = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _hold_lock(folder: os.stat_result, name: bytes) -> Iterator[None]:
    lock = _TURNS[hash((folder.st_dev, folder.st_ino, name)) % len(_TURNS)]
    if not lock.acquire(timeout=TURN_SECONDS):
        raise make_failure_error(
            "path: another save of this file is still running; try again later"
        )
    try:
        yield
    finally:
        lock.release()


def _hash_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
