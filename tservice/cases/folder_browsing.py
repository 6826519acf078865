"""Listing of folders for a folder picker (protocol-cases)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import frozen

from tservice.cases.case_folders import MAX_ENTRIES
from tservice.core.disk.kernel_paths import leads_to_kernel, open_without_magic_links
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)

MAX_FOLDERS = 500
"""Maximum number of listed folders (protocol-cases)."""


@frozen(kw_only=True)
class ListedFolder:
    """Folder inside another folder."""

    name: str
    path: str
    is_repository: bool


@frozen(kw_only=True)
class FolderListing:
    """Listing of the folders inside a folder.

    @ivar parent: path of the parent folder; C{None} if the caller may not read it.
    """

    path: str
    is_repository: bool
    parent: str | None
    folders: tuple[ListedFolder, ...]
    truncated: bool


def list_folders(path: str, top: str | None, *, hidden: bool, look: bool) -> FolderListing:
    """Return the folders inside C{path}.  Blocks.

    @param top: folder outside of which nothing may be read; C{None} if all folders may be read.
    @param hidden: true to include names that begin with a dot.
    @param look: true to follow symbolic links and detect repositories.  An entry on a hung mount
        then blocks the whole call.
    @raise ServiceError: 400: C{path} is no folder, or a kernel folder; 403: it is outside of
        C{top}; 404: it is missing; 422: it cannot be read.
    """
    if leads_to_kernel(path):
        # Their content depends on the reading process, for example its open folders.
        raise make_field_error("path", "must not be in /proc, /sys or /dev, nor lead through them")
    real = os.path.realpath(path)
    root = None if top is None else os.path.realpath(top)
    if root is not None and real != root and not real.startswith(root.rstrip("/") + "/"):
        raise ServiceError(ErrorCode.FORBIDDEN, "path: outside the workspace of this account")
    try:
        if top is not None:
            os.makedirs(top, exist_ok=True)
        names, truncated = _list_names(path, hidden=hidden, look=look)
    except FileNotFoundError:
        raise make_not_found_error(f"path: {path}") from None
    except NotADirectoryError:
        raise make_field_error("path", "must be a folder") from None
    except OSError as error:
        raise make_failure_error(f"path: the folder cannot be read: {error.strerror}") from None
    parent = None if real == (root or "/") else os.path.dirname(path)
    folders = tuple(
        ListedFolder(
            name=name,
            path=os.path.join(path, name),
            is_repository=look and os.path.lexists(os.path.join(path, name, ".git")),
        )
        for name in names
    )
    return FolderListing(
        path=path,
        is_repository=look and os.path.lexists(os.path.join(path, ".git")),
        parent=parent,
        folders=folders,
        truncated=truncated,
    )


def _list_names(path: str, *, hidden: bool, look: bool) -> tuple[list[str], bool]:
    """Return sorted names of folders, those that begin with a dot last; and true if some were left
    out.
    """
    found: list[str] = []
    with _open_folder(path) as folder, os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= MAX_ENTRIES:
                return _sort_names(found), True
            if _is_listed(entry.name, hidden) and _is_folder(entry, look):
                found.append(entry.name)
    return _sort_names(found), len(found) > MAX_FOLDERS


@contextmanager
def _open_folder(path: str) -> Iterator[int]:
    """Open a folder and yield its file descriptor.

    Links of the kernel are not followed, because the path may have changed since it was checked.
    """
    folder = open_without_magic_links(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)


def _sort_names(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.startswith("."), name.lower()))[:MAX_FOLDERS]


def _is_listed(name: str, hidden: bool) -> bool:
    """Return true if a folder of that name may be listed.

    Names that are not UTF-8, or contain control characters, cannot be used in requests.
    """
    return (hidden or not name.startswith(".")) and name.isprintable()


def _is_folder(entry: os.DirEntry[str], look: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=look)
    except OSError:
        return False
