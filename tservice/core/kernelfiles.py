"""Folders whose files are the kernel's: nobody works there.

What is below them means something else to each process that looks (C{/proc/self} is whoever asks),
so that a folder found there by the service is not the one that a pane would get.  And what is below
C{/proc/self} leads whoever works in this process, also with another user's rights, to everything
that it holds open for others, past the rights on the folders above that: L{open_plain} goes nowhere
there.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import PurePath

KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
"""Refused as working directories, with all below (protocol-create)."""

LINKS = 40
"""Symbolic links that the kernel follows in one path."""


def leads_to_kernel(path: str) -> bool:
    """Whether looking up C{path}, which is absolute, passes through a folder of the kernel.

    Its end alone would not tell: C{/proc/self/cwd} ends wherever the process works.
    """
    found, left, links = "/", _parts(path), 0
    while left:
        part = left.pop()
        if part == "..":
            found = os.path.dirname(found)
            continue
        found = os.path.join(found, part)
        if in_kernel(found):
            return True
        target = _target(found)
        if target is None:
            continue
        links += 1
        if links > LINKS:
            return False
        found = "/" if target.startswith("/") else os.path.dirname(found)
        left += _parts(target)
    return False


def in_kernel(path: str) -> bool:
    """Whether C{path} itself, links aside, is such a folder or below one."""
    plain = PurePath(os.path.normpath("/" + path.lstrip("/")))
    return any(plain.is_relative_to(folder) for folder in KERNEL_FOLDERS)


def open_plain(path: str | os.PathLike[str], flags: int) -> int:
    """C{os.open} for what a user chose: no link of the kernel's (C{/proc/self/fd/3}) is followed.

    @raise OSError: as C{os.open}; ELOOP: such a link is on the way.
    """
    how = _How(flags=flags | os.O_CLOEXEC, mode=0, resolve=_NO_MAGICLINKS)
    size = ctypes.sizeof(how)
    found: int = _libc.syscall(_OPENAT2, _HERE, os.fsencode(path), ctypes.byref(how), size)
    if found >= 0:
        return found
    number = ctypes.get_errno()
    if number not in (errno.ENOSYS, errno.EPERM):
        raise OSError(number, os.strerror(number), str(path))
    # A kernel before 5.6, or a container that does not permit it.
    if leads_to_kernel(os.path.abspath(path)):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return os.open(path, flags | os.O_CLOEXEC)


_OPENAT2 = 437
"""The same on every processor."""
_NO_MAGICLINKS = 0x02
_HERE = -100

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _How(ctypes.Structure):
    """C{struct open_how}."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def _parts(path: str) -> list[str]:
    """The steps of C{path}, the first one last."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _target(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
