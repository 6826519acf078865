"""What the kernel tells of a container's inside: its sockets, its processes, what its memory's
limit did.

A container is of this machine: its processes have numbers here too, and its folder of sockets is a
folder here.  So whether a server listens, or a process lives, is the kernel's word, and does not
wait for an engine.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import frozen

from tservice.mux.machine import PidFd, hold_process, listener_of, reach_socket
from tservice.mux.transport import Reachability

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

PAGE = 64 * 1024
"""Bytes of a process's status that are looked at: it may be in many groups."""

STARTING = 10
"""Processes and threads that an engine's C{exec} may need, and a tmux server with a shell."""

_OOM_FILES = ("memory.events", "memory.oom_control")
_NUMBERS = re.compile(rb"^NSpid:\s+(.+)$", re.MULTILINE)
_USER = re.compile(rb"^Uid:\s+(\d+)\s", re.MULTILINE)
_OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


@contextmanager
def _anchored(path: Path) -> Iterator[Path]:
    """A way to a socket that is there, short, and by which no link is followed.

    @raise OSError: there is none.
    """
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOTSOCK, "it is no socket")
        yield PROC / "self/fd" / str(descriptor)
    finally:
        os.close(descriptor)


def look_inside(first: int, path: str) -> os.stat_result:
    """What is at a path of a container's inside; no link in its place is followed.

    @param first: its first process as this machine counts.
    @raise OSError: it is not there, the container is over, or nobody but root may look into it.
    """
    return os.lstat(PROC / str(first) / "root" / path.lstrip("/"))


def reach(path: Path) -> Reachability:
    """Whether a server listens on a socket that what runs inside may have put there."""
    return reach_socket(path, listener)


def listener(path: Path) -> int:
    """The process that listens there, as this machine counts.

    @raise OSError: nobody does, or it cannot be reached.
    """
    with _anchored(path) as way:
        return listener_of(way)


def hold_inside(first: int, inner: int) -> PidFd | None:
    """Take hold of a process of a container; C{None}: there is none.

    @param first: the container's first process, as this machine counts.
    @param inner: the number that the process has inside.
    """
    pid = number_of(first, inner)
    held = hold_process(pid) if pid else None
    # Asked again while it is held: nobody else can have its number now.
    if held is None or _is_inner(pid, inner, _whose(first)):
        return held
    held.close()
    return None


def number_of(first: int, inner: int) -> int:
    """The number that a process of a container has on this machine; 0: there is none."""
    whose = _whose(first) if first else _Whose()
    if not whose.group:
        return 0
    return next((pid for pid in _members(whose.group) if _is_inner(pid, inner, whose)), 0)


def hold_of(pid: int, first: int) -> PidFd | None:
    """Take hold of a process by this machine's number, if it is of that container."""
    whose = _whose(first)
    held = hold_process(pid) if whose.group else None
    if held is None or _whose(pid).is_of(whose):
        return held
    held.close()
    return None


def user_of(first: int) -> int | None:
    """As which user of this machine a process runs; C{None}: it is over.

    @param first: as this machine counts.
    """
    found = _USER.search(_line(f"{PROC}/{first}/status"))
    return None if found is None else int(found[1])


def crowd(first: int) -> tuple[int, int] | None:
    """How many processes a container has and may have, where there is no room for a session.

    @param first: its first process, as this machine counts.
    """
    for leaf in _folders(_text(PROC / str(first) / "cgroup"), "pids"):
        for folder in (leaf, *leaf.parents):
            most, now = (_text(folder / name).strip() for name in ("pids.max", "pids.current"))
            if most.isdigit() and now.isdigit():
                # The nearest limit is the container's.
                return (int(now), int(most)) if int(now) + STARTING > int(most) else None
            if folder == CGROUPS:
                break
    return None


def oom_kills(first: int) -> int | None:
    """How many processes the memory's limit has ended in a container so far.

    @param first: its first process, as this machine counts.
    """
    for folder in _folders(_text(PROC / str(first) / "cgroup")):
        for name in _OOM_FILES:
            found = _OOM_KILLS.search(_text(folder / name))
            if found is not None:
                return int(found[1])
    return None


@frozen
class _Whose:
    """What the processes of one container have in common.

    Without root docker may have no control groups, and all are in that of its daemon.

    @ivar group: the text of C{/proc/<pid>/cgroup}.
    @ivar numbers: the namespace of process numbers; empty: nobody may look.
    """

    group: str = ""
    numbers: str = ""

    def is_of(self, other: _Whose) -> bool:
        """Whether it is the same container."""
        told = self.numbers and other.numbers
        return self.group == other.group and (not told or self.numbers == other.numbers)


def _whose(pid: int) -> _Whose:
    numbers = ""
    with suppress(OSError):
        numbers = os.readlink(f"{PROC}/{pid}/ns/pid")
    return _Whose(_text(PROC / str(pid) / "cgroup"), numbers)


def _folders(group: str, controller: str = "memory") -> Iterator[Path]:
    """Where the kernel tells of a control group, by the text of C{/proc/<pid>/cgroup}."""
    for line in group.splitlines():
        _, controllers, path = line.split(":", 2)
        names = controllers.split(",")
        if names in ([""], [controller]):
            base = CGROUPS / controller if names == [controller] else CGROUPS
            yield base / path.lstrip("/")


def _members(group: str) -> Iterator[int]:
    """The processes of a control group.

    To look at all of the machine's took 0.1 s for a thousand, whoever had started them.
    """
    for folder in _folders(group):
        found = _text(folder / "cgroup.procs").split()
        if found:
            return map(int, found)
    return _pids()


def _is_inner(pid: int, inner: int, whose: _Whose) -> bool:
    # Read at once, and without a path's own work: there may be many.
    found = _NUMBERS.search(_line(f"{PROC}/{pid}/status"))
    numbers = found[1].split() if found else []
    # A process of a further namespace inside has more numbers, and another last one.
    return numbers[1:2] == [b"%d" % inner] and _whose(pid).is_of(whose)


def _line(path: str) -> bytes:
    """The beginning of a file of the kernel's."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, PAGE)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _pids() -> Iterator[int]:
    with os.scandir(PROC) as entries:
        yield from [int(entry.name) for entry in entries if entry.name.isdigit()]


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
