"""Kernel file systems (C{/proc}, C{/sys}, C{/dev}), which are refused as working directories.

Paths below them have another meaning for each process: C{/proc/self} is the process that opens it.
A folder that the service finds there is not the folder that a pane would get.  Paths below
C{/proc/self} also reach every file that this process holds open.  They do so even with another
user's rights, and without access to the parent folders.  L{open_without_magic_links} therefore
never follows such a link.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import PurePath

KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
"""Folders that are refused as working directories, with everything below them (protocol-create)."""

LINKS = 40
"""Number of symbolic links that the kernel follows in one path."""


def leads_to_kernel(path: str) -> bool:
    """Return whether the lookup of the absolute C{path} passes through a kernel folder.

    Checking the final target is not enough: C{/proc/self/cwd} resolves to the process's current
    folder.
    """
    found, left, links = "/", _split_reversed(path), 0
    while left:
        part = left.pop()
        if part == "..":
            found = os.path.dirname(found)
            continue
        found = os.path.join(found, part)
        if is_kernel_path(found):
            return True
        target = _read_link(found)
        if target is None:
            continue
        links += 1
        if links > LINKS:
            return False
        found = "/" if target.startswith("/") else os.path.dirname(found)
        left += _split_reversed(target)
    return False


def is_kernel_path(path: str) -> bool:
    """Return whether C{path}, without following links, is a kernel folder or below one."""
    plain = PurePath(os.path.normpath("/" + path.lstrip("/")))
    return any(plain.is_relative_to(folder) for folder in KERNEL_FOLDERS)


def open_without_magic_links(path: str | os.PathLike[str], flags: int) -> int:
    """Open a path that a user chose like C{os.open}, but follow no magic link (C{/proc/self/fd/3}).

    @raise OSError: as for C{os.open}; C{ELOOP} if a component of the path is a magic link.
    """
    how = _OpenHow(flags=flags | os.O_CLOEXEC, mode=0, resolve=_NO_MAGICLINKS)
    size = ctypes.sizeof(how)
    found: int = _libc.syscall(_OPENAT2, _HERE, os.fsencode(path), ctypes.byref(how), size)
    if found >= 0:
        return found
    number = ctypes.get_errno()
    if number not in (errno.ENOSYS, errno.EPERM):
        raise OSError(number, os.strerror(number), str(path))
    # The kernel is older than 5.6, or the container does not permit the call.
    if leads_to_kernel(os.path.abspath(path)):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return os.open(path, flags | os.O_CLOEXEC)


_OPENAT2 = 437
"""System call number of openat2(2), which is the same on all architectures."""
_NO_MAGICLINKS = 0x02
_HERE = -100

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _OpenHow(ctypes.Structure):
    """C{struct open_how}, the argument of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def _split_reversed(path: str) -> list[str]:
    """Return the components of C{path} in reverse order."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _read_link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
