"""Listing of folders for a folder picker (protocol-cases)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, invalid_field, not_found, operation_failed
from tservice.core.kernel_paths import leads_to_kernel, open_without_magic_links

MAX_FOLDERS = 500
"""Folders listed at most (protocol-cases)."""
_MAX_ENTRIES = 20_000
"""Entries of a folder that are read."""


@frozen(kw_only=True)
class ListedFolder:
    """Folder inside of another."""

    name: str
    path: str
    is_repository: bool


@frozen(kw_only=True)
class FolderListing:
    """Folders in a folder.

    @ivar parent: C{None}: the caller may not see anything above.
    """

    path: str
    parent: str | None
    folders: tuple[ListedFolder, ...]
    truncated: bool


def list_folders(path: str, top: str | None, *, hidden: bool, look: bool) -> FolderListing:
    """Return the folders in C{path}; blocks.

    @param top: the folder that must not be left; C{None}: all folders may be read.
    @param look: read each of them too, and follow links: one that does not answer then blocks the
        whole call.
    @raise ServiceError: 400: no folder, or one of the kernel; 403: above C{top}; 404: missing; 422:
        not readable.
    """
    if leads_to_kernel(path):
        # Their content depends on the reading process, for example its open folders.
        raise invalid_field("path", "must not be in /proc, /sys or /dev, nor lead through them")
    real = os.path.realpath(path)
    root = None if top is None else os.path.realpath(top)
    if root is not None and real != root and not real.startswith(root.rstrip("/") + "/"):
        raise ServiceError(ErrorCode.FORBIDDEN, "path: outside the workspace of this account")
    try:
        if top is not None:
            os.makedirs(top, exist_ok=True)
        names, truncated = _list_names(path, hidden=hidden, look=look)
    except FileNotFoundError:
        raise not_found(f"path: {path}") from None
    except NotADirectoryError:
        raise invalid_field("path", "must be a folder") from None
    except OSError as error:
        raise operation_failed(f"path: the folder cannot be read: {error.strerror}") from None
    parent = None if real == (root or "/") else os.path.dirname(path)
    folders = tuple(
        ListedFolder(
            name=name,
            path=os.path.join(path, name),
            is_repository=look and os.path.lexists(os.path.join(path, name, ".git")),
        )
        for name in names
    )
    return FolderListing(path=path, parent=parent, folders=folders, truncated=truncated)


def _list_names(path: str, *, hidden: bool, look: bool) -> tuple[list[str], bool]:
    """Return the names of folders, sorted, with those that begin with a dot last."""
    found: list[str] = []
    with _open_folder(path) as folder, os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= _MAX_ENTRIES:
                return _sort_names(found), True
            if _is_listed(entry.name, hidden) and _is_folder(entry, look):
                found.append(entry.name)
    return _sort_names(found), len(found) > MAX_FOLDERS


@contextmanager
def _open_folder(path: str) -> Iterator[int]:
    """Open the folder itself: a link may have been changed since the check."""
    folder = open_without_magic_links(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)


def _sort_names(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.startswith("."), name.lower()))[:MAX_FOLDERS]


def _is_listed(name: str, hidden: bool) -> bool:
    """Return true if a name is listed; names that are not UTF-8, or hold control characters, cannot
    be addressed.
    """
    return (hidden or not name.startswith(".")) and name.isprintable()


def _is_folder(entry: os.DirEntry[str], look: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=look)
    except OSError:
        return False
