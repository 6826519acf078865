"""File operations with another user's rights, for one thread (setfsuid(2)).

If root opens a file in a user's folder, it follows that user's symbolic links with root's rights.
Linux lets a thread take another file system identity for this case, as file servers do.  While
L{call_as_user} runs its function, the kernel checks every path, link, mode and owner as for the
user.
New files belong to the user, and root's power over files is off.  Nothing else changes: the user
cannot signal or trace this process, and other threads are not affected.

Each call costs some 20 microseconds.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from attrs import frozen

from tservice.core.users.os_users import OsUser

_T = TypeVar("_T")

_SETGROUPS_64 = {
    "x86_64": 116,
    "aarch64": 159,
    "riscv64": 159,
    "loongarch64": 159,
    "ppc64le": 81,
    "s390x": 206,
}
"""System call numbers of setgroups(2) by machine.

The C library's function of that name would change every thread.
"""

SETGROUPS = _SETGROUPS_64.get(platform.machine()) if sys.maxsize > 2**32 else None
"""Number for this machine.  C{None} on an unknown machine, where other users' rights cannot be
used.
"""


class IdentityChangeError(OSError):
    """Error: the kernel did not change the file identity, so the function was not called."""


def call_as_user(user: OsUser | None, work: Callable[[], _T]) -> _T:
    """Call C{work} with C{user}'s file access rights, and return its result.

    C{work} must only access files: it may start no thread and wait for nothing.

    @param user: the OS user; C{None} for the rights of this process.
    @raise IdentityChangeError: this process is not root, already acts as another user, or the
        kernel refused.
    """
    if user is None:
        return work()
    if SETGROUPS is None or os.geteuid() != 0 or _libc.setfsuid(-1) != 0:
        raise IdentityChangeError(f"cannot work on files as {user.name}")
    groups = os.getgroups()
    gid, uid = os.getegid(), os.geteuid()
    try:
        _take_file_identity(user.uid, user.gid, user.groups)
        _here.acted = _ThreadIdentity(user=user, itself=(uid, gid, groups))
        return work()
    finally:
        _here.acted = None
        _restore_file_identity(uid, gid, groups)


def get_acting_ids() -> tuple[int, int, Sequence[int]] | None:
    """Return the user id, group id and further groups that this thread acts as.

    @return: C{None} if the thread acts as the user of this process.
    """
    acted = _get_thread_identity()
    return None if acted is None else (acted.user.uid, acted.user.gid, acted.user.groups)


def call_as_process(work: Callable[[], _T]) -> _T:
    """Call C{work} with the rights of this process while L{call_as_user} is running.

    Use it to start a child process.  C{work} must not touch a user's files.
    """
    acted = _get_thread_identity()
    if acted is None:
        return work()
    _restore_file_identity(*acted.itself)
    try:
        return work()
    finally:
        try:
            _take_file_identity(acted.user.uid, acted.user.gid, acted.user.groups)
        except IdentityChangeError:
            # The caller would continue as root.
            os.abort()


@frozen(kw_only=True)
class _ThreadIdentity:
    """Identity change that L{call_as_user} makes in a thread.

    @ivar itself: user id, group id and further groups of the process, to restore.
    """

    user: OsUser
    itself: tuple[int, int, Sequence[int]]


def _get_thread_identity() -> _ThreadIdentity | None:
    return getattr(_here, "acted", None)


_here = threading.local()


def _take_file_identity(uid: int, gid: int, groups: Sequence[int]) -> None:
    # The user is set last.  Groups could still be changed without root's identity, but in this
    # order every intermediate state has fewer rights than before.
    _set_groups(groups)
    if _set_ids(gid, uid) != (gid, uid) or sorted(os.getgroups()) != sorted(groups):
        raise IdentityChangeError(f"the kernel does not let this process act as user {uid}")


def _restore_file_identity(uid: int, gid: int, groups: Sequence[int]) -> None:
    _libc.setfsuid(uid)
    _set_groups(groups)
    if _set_ids(gid, uid) != (gid, uid) or sorted(os.getgroups()) != sorted(groups):
        # Doing root's work as another user, or the reverse, is worse than a crash.
        os.abort()


def _set_ids(gid: int, uid: int) -> tuple[int, int]:
    """Set both file system ids and return the ids now in force, because the calls report no
    failure.
    """
    _libc.setfsgid(gid)
    _libc.setfsuid(uid)
    return _libc.setfsgid(-1), _libc.setfsuid(-1)


def _set_groups(groups: Sequence[int]) -> None:
    array = (ctypes.c_uint32 * len(groups))(*groups)
    _libc.syscall(SETGROUPS, len(groups), array)


_libc = ctypes.CDLL(None)
