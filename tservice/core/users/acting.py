"""Working on files as another user, in the thread that does it (setfsuid(2)).

A root that opens what lies in a user's folder follows that user's symbolic links with root's
rights.  The kernel's answer, made for file servers, is the file system identity of one thread: for
as long as L{act_as} runs its function, the kernel judges every path, link, mode and owner as if the
user did it, what is made belongs to the user, and root's power over files is off.  Nothing else
changes: the user cannot signal or trace this process, and other threads notice nothing.

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

from tservice.core.users.osuser import OsUser

_T = TypeVar("_T")

_SETGROUPS_64 = {
    "x86_64": 116,
    "aarch64": 159,
    "riscv64": 159,
    "loongarch64": 159,
    "ppc64le": 81,
    "s390x": 206,
}
"""Numbers of setgroups(2); the C library's function of that name changes every thread."""

SETGROUPS = _SETGROUPS_64.get(platform.machine()) if sys.maxsize > 2**32 else None
"""This machine's; C{None} where it is not known, and nobody can be acted as."""


class NotActing(OSError):
    """The kernel did not make the change, so nothing was done."""


def act_as(user: OsUser | None, work: Callable[[], _T]) -> _T:
    """Call C{work} with C{user}'s rights to files; C{None}: with this process's own.

    It must be all work on files: it may start no thread and wait for nothing.

    @raise NotActing: this process is not root, or acts as somebody already, or the kernel refused.
    """
    if user is None:
        return work()
    if SETGROUPS is None or os.geteuid() != 0 or _libc.setfsuid(-1) != 0:
        raise NotActing(f"cannot work on files as {user.name}")
    groups = os.getgroups()
    gid, uid = os.getegid(), os.geteuid()
    try:
        _enter(user.uid, user.gid, user.groups)
        _here.acted = _Acted(user=user, itself=(uid, gid, groups))
        return work()
    finally:
        _here.acted = None
        _leave(uid, gid, groups)


def in_whose_name() -> tuple[int, int, Sequence[int]] | None:
    """As whom this thread works now: user, group, further groups; C{None}: as this process."""
    acted = _acted()
    return None if acted is None else (acted.user.uid, acted.user.gid, acted.user.groups)


def as_itself(work: Callable[[], _T]) -> _T:
    """Call C{work} with this process's own rights in the midst of L{act_as}.

    It is to start a child, which nobody else's rights need reach, and to touch nothing of a user's.
    """
    acted = _acted()
    if acted is None:
        return work()
    _leave(*acted.itself)
    try:
        return work()
    finally:
        try:
            _enter(acted.user.uid, acted.user.gid, acted.user.groups)
        except NotActing:
            # Whoever called would go on, as root.
            os.abort()


@frozen(kw_only=True)
class _Acted:
    """What L{act_as} changed in a thread.

    @ivar itself: the process's own user, group and further groups.
    """

    user: OsUser
    itself: tuple[int, int, Sequence[int]]


def _acted() -> _Acted | None:
    return getattr(_here, "acted", None)


_here = threading.local()


def _enter(uid: int, gid: int, groups: Sequence[int]) -> None:
    # The user comes last: without root's identity the groups could still be changed, but the
    # order makes every state in between one of fewer rights than before.
    _set_groups(groups)
    if _identity(gid, uid) != (gid, uid) or sorted(os.getgroups()) != sorted(groups):
        raise NotActing(f"the kernel does not let this process act as user {uid}")


def _leave(uid: int, gid: int, groups: Sequence[int]) -> None:
    _libc.setfsuid(uid)
    _set_groups(groups)
    if _identity(gid, uid) != (gid, uid) or sorted(os.getgroups()) != sorted(groups):
        # Work of root done as somebody else, or the other way round, is worse than none.
        os.abort()


def _identity(gid: int, uid: int) -> tuple[int, int]:
    """Set both; what holds now (the calls themselves tell of no failure)."""
    _libc.setfsgid(gid)
    _libc.setfsuid(uid)
    return _libc.setfsgid(-1), _libc.setfsuid(-1)


def _set_groups(groups: Sequence[int]) -> None:
    array = (ctypes.c_uint32 * len(groups))(*groups)
    _libc.syscall(SETGROUPS, len(groups), array)


_libc = ctypes.CDLL(None)
