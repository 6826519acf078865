"""Renaming of temporary files without replacing existing ones."""

from __future__ import annotations

import errno
import os


def rename_exclusively(folder: int, temporary: bytes, name: bytes) -> None:
    """Rename C{temporary} to C{name} in the folder with descriptor C{folder}; never replace a file.

    @raise FileExistsError: a file with that name exists.
    @raise OSError: the file system failed.
    """
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        _rename_unlinked(folder, temporary, name)
        return
    os.unlink(temporary, dir_fd=folder)


def _rename_unlinked(folder: int, temporary: bytes, name: bytes) -> None:
    """Rename on a file system without hard links.

    Another process may create the name between the check and the rename.
    """
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
