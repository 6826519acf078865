"""Facts about a container that the kernel reports: its sockets, its processes, and what the memory
limit killed.

Containers run on this machine: their processes have numbers here too, and their socket folder is a
folder here.  So the kernel tells if a server listens or a process lives, without waiting for an
engine.
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

from tservice.mux.local_transport import PidFdProcess, check_socket, get_listener_pid, open_process
from tservice.mux.transport import ServerReachability

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

PAGE = 64 * 1024
"""Bytes read of a process's status, which may list many groups."""

STARTING = 10
"""Processes and threads that an engine's C{exec} may need, and a tmux server with a shell."""

_OOM_FILES = ("memory.events", "memory.oom_control")
_NUMBERS = re.compile(rb"^NSpid:\s+(.+)$", re.MULTILINE)
_USER = re.compile(rb"^Uid:\s+(\d+)\s", re.MULTILINE)
_OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


@contextmanager
def _anchored(path: Path) -> Iterator[Path]:
    """Yield a short path to an existing socket, by which no link is followed.

    @raise OSError: there is none.
    """
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOTSOCK, "not a socket")
        yield PROC / "self/fd" / str(descriptor)
    finally:
        os.close(descriptor)


def look_inside(first: int, path: str) -> os.stat_result:
    """Return the status of a path inside a container; a link in its place is not followed.

    @param first: number of the container's first process on this machine.
    @raise OSError: it is missing, the container has ended, or only root may look into it.
    """
    return os.lstat(PROC / str(first) / "root" / path.lstrip("/"))


def reach(path: Path) -> ServerReachability:
    """Return whether a server listens on a socket; a process inside may have replaced the socket's
    path.
    """
    return check_socket(path, listener)


def listener(path: Path) -> int:
    """Return the number on this machine of the process that listens on a socket.

    @raise OSError: no process does, or it cannot be reached.
    """
    with _anchored(path) as way:
        return get_listener_pid(way)


def hold_inside(first: int, inner: int) -> PidFdProcess | None:
    """Return a handle of a process in a container; C{None}: there is none.

    @param first: number of the container's first process on this machine.
    @param inner: number of the process inside.
    """
    pid = number_of(first, inner)
    held = open_process(pid) if pid else None
    # Checked again with the handle open, which keeps the number from being reused.
    if held is None or _is_inner(pid, inner, _whose(first)):
        return held
    held.close()
    return None


def number_of(first: int, inner: int) -> int:
    """Return the number on this machine of a process in a container; 0: there is none."""
    whose = _whose(first) if first else _Whose()
    if not whose.group:
        return 0
    return next((pid for pid in _members(whose.group) if _is_inner(pid, inner, whose)), 0)


def hold_of(pid: int, first: int) -> PidFdProcess | None:
    """Return a handle of a process by its number on this machine, if it is in that container."""
    whose = _whose(first)
    held = open_process(pid) if whose.group else None
    if held is None or _whose(pid).is_of(whose):
        return held
    held.close()
    return None


def user_of(first: int) -> int | None:
    """Return the number of the user of this machine that runs a process; C{None}: it has ended.

    @param first: number of the process on this machine.
    """
    found = _USER.search(_line(f"{PROC}/{first}/status"))
    return None if found is None else int(found[1])


def crowd(first: int) -> tuple[int, int] | None:
    """Return the number of processes of a container and its limit, if there is no room for a
    session.

    @param first: number of its first process on this machine.
    """
    for leaf in _folders(_text(PROC / str(first) / "cgroup"), "pids"):
        for folder in (leaf, *leaf.parents):
            most, now = (_text(folder / name).strip() for name in ("pids.max", "pids.current"))
            if most.isdigit() and now.isdigit():
                # The innermost limit is the container's.
                return (int(now), int(most)) if int(now) + STARTING > int(most) else None
            if folder == CGROUPS:
                break
    return None


def oom_kills(first: int) -> int | None:
    """Return the number of processes that the memory limit has killed in a container.

    @param first: number of its first process on this machine.
    """
    for folder in _folders(_text(PROC / str(first) / "cgroup")):
        for name in _OOM_FILES:
            found = _OOM_KILLS.search(_text(folder / name))
            if found is not None:
                return int(found[1])
    return None


@frozen
class _Whose:
    """Attributes that identify the container of a process.

    Docker without root may have no control groups; all processes then share the group of its
    daemon.

    @ivar group: the text of C{/proc/<pid>/cgroup}.
    @ivar numbers: the namespace of process numbers; empty: it cannot be read.
    """

    group: str = ""
    numbers: str = ""

    def is_of(self, other: _Whose) -> bool:
        """Return true if both belong to the same container."""
        told = self.numbers and other.numbers
        return self.group == other.group and (not told or self.numbers == other.numbers)


def _whose(pid: int) -> _Whose:
    numbers = ""
    with suppress(OSError):
        numbers = os.readlink(f"{PROC}/{pid}/ns/pid")
    return _Whose(_text(PROC / str(pid) / "cgroup"), numbers)


def _folders(group: str, controller: str = "memory") -> Iterator[Path]:
    """Yield the folders with a control group's files, from the text of C{/proc/<pid>/cgroup}."""
    for line in group.splitlines():
        _, controllers, path = line.split(":", 2)
        names = controllers.split(",")
        if names in ([""], [controller]):
            base = CGROUPS / controller if names == [controller] else CGROUPS
            yield base / path.lstrip("/")


def _members(group: str) -> Iterator[int]:
    """Return the processes of a control group.

    Reading all processes of the machine took 0.1 s for a thousand of them.
    """
    for folder in _folders(group):
        found = _text(folder / "cgroup.procs").split()
        if found:
            return map(int, found)
    return _pids()


def _is_inner(pid: int, inner: int, whose: _Whose) -> bool:
    # A plain read, without Path: there may be many processes.
    found = _NUMBERS.search(_line(f"{PROC}/{pid}/status"))
    numbers = found[1].split() if found else []
    # A process in a nested namespace has more numbers, and another last one.
    return numbers[1:2] == [b"%d" % inner] and _whose(pid).is_of(whose)


def _line(path: str) -> bytes:
    """Return the beginning of a kernel file."""
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
