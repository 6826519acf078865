"""Kernel's view of a container: its sockets, its processes, and kills by the memory limit.

Processes in containers also have process ids on this machine, and their sockets are in a folder of
this machine.  The kernel can therefore report if a server listens or a process is alive, without a
request to the engine.
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
"""Maximum bytes read of a file in C{/proc}.

A process's status may list many groups.
"""

STARTING = 10
"""Number of processes and threads that a new session may need.

They are those of the engine's C{exec}, of a tmux server and of a shell.
"""

_OOM_FILES = ("memory.events", "memory.oom_control")
_NUMBERS = re.compile(rb"^NSpid:\s+(.+)$", re.MULTILINE)
_USER = re.compile(rb"^Uid:\s+(\d+)\s", re.MULTILINE)
_STATE = re.compile(rb"^State:\s+(\S)", re.MULTILINE)
_OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


@contextmanager
def _open_socket_path(path: Path) -> Iterator[Path]:
    """Yield a short path of an existing socket, which leads to it without following symbolic links.

    @raise OSError: there is no socket at C{path}.
    """
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOTSOCK, "not a socket")
        yield PROC / "self/fd" / str(descriptor)
    finally:
        os.close(descriptor)


def stat_path_in_container(first: int, path: str) -> os.stat_result:
    """Return the file status of a path inside a container.

    A symbolic link at the path is not followed.

    @param first: process id of the container's main process on this machine.
    @raise OSError: the path is missing, the container has ended, or only root may read it.
    """
    return os.lstat(PROC / str(first) / "root" / path.lstrip("/"))


def probe_server(path: Path) -> ServerReachability:
    """Return the state of the server that should listen on a socket.

    A process in the container may have replaced the socket, so symbolic links are not followed.
    """
    return check_socket(path, find_listener)


def find_listener(path: Path) -> int:
    """Return the process id, on this machine, of the process that listens on a socket.

    @raise OSError: no process listens, or the socket is not accessible.
    """
    with _open_socket_path(path) as way:
        return get_listener_pid(way)


def open_process_by_container_pid(first: int, inner: int) -> PidFdProcess | None:
    """Return a handle of a process in a container; C{None} if there is no such process.

    @param first: process id of the container's main process on this machine.
    @param inner: process id inside the container.
    """
    pid = find_host_pid(first, inner)
    held = open_process(pid) if pid else None
    # Checked again with the handle open, which keeps the number from being reused.
    if held is None or _is_container_process(pid, inner, _identify_container(first)):
        return held
    held.close()
    return None


def find_host_pid(first: int, inner: int) -> int:
    """Return the process id on this machine of a process in a container; 0 if there is none.

    @param first: process id of the container's main process on this machine.
    @param inner: process id inside the container.
    """
    whose = _identify_container(first) if first else _ContainerIdentity()
    if not whose.group:
        return 0
    return next(
        (pid for pid in _cgroup_pids(whose.group) if _is_container_process(pid, inner, whose)), 0
    )


def open_process_by_host_pid(pid: int, first: int) -> PidFdProcess | None:
    """Return a handle of a process by its process id on this machine.

    C{None} means that the process does not exist, or is not in the container.

    @param first: process id of the container's main process on this machine.
    """
    whose = _identify_container(first)
    held = open_process(pid) if whose.group else None
    if held is None or _identify_container(pid).is_same_container(whose):
        return held
    held.close()
    return None


def has_ended(pid: int) -> bool:
    """Return true if a process of this machine has ended, also if its parent has not noticed that.

    The process id 0 stands for no process, and counts as ended.
    """
    found = _STATE.search(_read_beginning(f"{PROC}/{pid}/status"))
    return found is None or found[1] in b"ZX"


def find_process_uid(first: int) -> int | None:
    """Return the user id, on this machine, of a process; C{None} if it has ended.

    @param first: process id on this machine.
    """
    found = _USER.search(_read_beginning(f"{PROC}/{first}/status"))
    return None if found is None else int(found[1])


def find_process_shortage(first: int) -> tuple[int, int] | None:
    """Return the number of a container's processes and their limit if a session would not fit.

    C{None} means that there is room for a session.

    @param first: process id of the container's main process on this machine.
    """
    for leaf in _cgroup_folders(_read_text(PROC / str(first) / "cgroup"), "pids"):
        for folder in (leaf, *leaf.parents):
            most, now = (_read_text(folder / name).strip() for name in ("pids.max", "pids.current"))
            if most.isdigit() and now.isdigit():
                # The innermost limit is the container's.
                return (int(now), int(most)) if int(now) + STARTING > int(most) else None
            if folder == CGROUPS:
                break
    return None


def count_oom_kills(first: int) -> int | None:
    """Return the number of processes in a container that the memory limit has killed.

    C{None} means that the number is unknown.

    @param first: process id of the container's main process on this machine.
    """
    for folder in _cgroup_folders(_read_text(PROC / str(first) / "cgroup")):
        for name in _OOM_FILES:
            found = _OOM_KILLS.search(_read_text(folder / name))
            if found is not None:
                return int(found[1])
    return None


@frozen
class _ContainerIdentity:
    """Kernel attributes of a process that identify its container.

    With rootless docker there may be no control groups; all processes are then in the group of the
    daemon.

    @ivar group: text of C{/proc/<pid>/cgroup}.
    @ivar numbers: id of the pid namespace; empty if it cannot be read.
    """

    group: str = ""
    numbers: str = ""

    def is_same_container(self, other: _ContainerIdentity) -> bool:
        """Return true if both processes are in the same container."""
        told = self.numbers and other.numbers
        return self.group == other.group and (not told or self.numbers == other.numbers)


def _identify_container(pid: int) -> _ContainerIdentity:
    numbers = ""
    with suppress(OSError):
        numbers = os.readlink(f"{PROC}/{pid}/ns/pid")
    return _ContainerIdentity(_read_text(PROC / str(pid) / "cgroup"), numbers)


def _cgroup_folders(group: str, controller: str = "memory") -> Iterator[Path]:
    """Yield the folders that hold the files of a control group.

    @param group: text of C{/proc/<pid>/cgroup}.
    """
    for line in group.splitlines():
        _, controllers, path = line.split(":", 2)
        names = controllers.split(",")
        if names in ([""], [controller]):
            base = CGROUPS / controller if names == [controller] else CGROUPS
            yield base / path.lstrip("/")


def _cgroup_pids(group: str) -> Iterator[int]:
    """Yield the process ids in a control group.

    Reading the status of all processes of the machine took 0.1 s for a thousand of them.

    @param group: text of C{/proc/<pid>/cgroup}.
    """
    for folder in _cgroup_folders(group):
        found = _read_text(folder / "cgroup.procs").split()
        if found:
            return map(int, found)
    return _list_host_pids()


def _is_container_process(pid: int, inner: int, whose: _ContainerIdentity) -> bool:
    # A plain read, without Path: there may be many processes.
    found = _NUMBERS.search(_read_beginning(f"{PROC}/{pid}/status"))
    numbers = found[1].split() if found else []
    # A process in a nested namespace has more numbers, and another last one.
    return numbers[1:2] == [b"%d" % inner] and _identify_container(pid).is_same_container(whose)


def _read_beginning(path: str) -> bytes:
    """Return the first L{PAGE} bytes of a kernel file."""
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


def _list_host_pids() -> Iterator[int]:
    with os.scandir(PROC) as entries:
        yield from [int(entry.name) for entry in entries if entry.name.isdigit()]


def _read_text(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
