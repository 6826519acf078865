"""Session keyrings: the kernel keys that a child inherits (session-keyring(7))."""

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
"""Errors of a kernel without keys, or of a container that may not use them, and neither may its
children.
"""


@contextmanager
def fresh_keyring() -> Iterator[None]:
    """Start children of this thread in the block with a new, empty session keyring.

    Any holder of a keyring may read the keys in it, even those of other users: a child of root
    would inherit root's, and one user's children another's.  Afterwards this thread has an empty
    keyring too; the previous one cannot be joined again, and nothing here uses it.

    @raise OSError: the kernel refuses.
    """
    _join_new_keyring()
    try:
        yield
    finally:
        _join_new_keyring()


def _join_new_keyring() -> None:
    if _KEYCTL is None:
        raise OSError(errno.ENOSYS, "session keyrings are not supported on this processor")
    if _libc.syscall(_KEYCTL, _JOIN_SESSION_KEYRING, None) < 0:
        number = ctypes.get_errno()
        if number not in _NO_KEYS:
            raise OSError(number, os.strerror(number))


_libc = ctypes.CDLL(None, use_errno=True)
