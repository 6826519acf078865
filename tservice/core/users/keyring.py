"""Session keyrings, the kernel keys that a child process inherits (session-keyring(7))."""

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
"""Error numbers that mean that keyrings cannot be used: the kernel has none, or a container forbids
them.  Child processes cannot use them either.
"""


@contextmanager
def use_fresh_keyring() -> Iterator[None]:
    """Give children that this thread starts in the block a new, empty session keyring.

    Any holder of a keyring may read the keys in it, even those of other users.  Children would
    inherit the keyring of root or of another user.  After the block this thread keeps an empty
    keyring: it cannot join the previous one again, and the service uses no keys.

    @raise OSError: the kernel refused.
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
