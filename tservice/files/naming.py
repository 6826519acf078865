"""Giving a file that was written aside its name, over nobody else's."""

from __future__ import annotations

import errno
import os


def name_anew(folder: int, temporary: bytes, name: bytes) -> None:
    """Rename C{temporary} to C{name}, both in C{folder}.

    @raise FileExistsError: something has that name.
    @raise OSError: the file system's own refusal.
    """
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        _rename(folder, temporary, name)
        return
    os.unlink(temporary, dir_fd=folder)


def _rename(folder: int, temporary: bytes, name: bytes) -> None:
    """Where there are no hard links, between looking and renaming somebody can come."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
