"""Session keyrings: what a child inherits of the kernel's keys (session-keyring(7))."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_KEYCTL_64 = {
    "x86_64": 250,
    "aarch64": 219,
    "riscv64": 219,
    "loongarch64": 219,
    "ppc64le": 271,
    "s390x": 280,
}
_KEYCTL = _KEYCTL_64.get(platform.machine()) if sys.maxsize > 2**32 else None
_JOIN_SESSION_KEYRING = 1
_NO_KEYS = frozenset({errno.ENOSYS, errno.EPERM, errno.EACCES})
"""A kernel without keys, or a container that may not use them, and so neither may its children."""


@contextmanager
def fresh_keyring() -> Iterator[None]:
    """What this thread starts inside has an empty session keyring that nobody else has.

    Whoever holds a keyring may read the keys in it, whatever their owner: a child of root would
    take root's along, and one user's children another's.  Afterwards this thread has an empty one
    too; the one that it had before cannot be joined again, and no one here uses it.

    @raise OSError: the kernel refuses.
    """
    _join()
    try:
        yield
    finally:
        _join()


def _join() -> None:
    if _KEYCTL is None:
        raise OSError(errno.ENOSYS, "how to leave a session keyring is not known here")
    if _libc.syscall(_KEYCTL, _JOIN_SESSION_KEYRING, None) < 0:
        number = ctypes.get_errno()
        if number not in _NO_KEYS:
            raise OSError(number, os.strerror(number))


_libc = ctypes.CDLL(None, use_errno=True)
