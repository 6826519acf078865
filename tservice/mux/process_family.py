"""The processes that a pane's program started, and those left after the pane has ended
(protocol-delete).

A shell sends SIGHUP to its jobs when the terminal goes away, except to disowned jobs. C{nohup}
makes a program ignore the signal. A process started by C{setsid} has no terminal any longer, but
keeps the pane's environment.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import wait_seconds

PROC = Path("/proc")
AT_ONCE = 100
"""Number of processes that are examined in one turn of the reactor."""
SETTLE = 1.0
"""Seconds that processes get to exit after SIGHUP."""
LOOK_EVERY = 0.02
MOST = 50
"""Maximum number of leftover processes that are reported."""
COMMAND_CHARS = 200
"""Maximum number of characters reported of a process's command line."""
ENVIRON_BYTES = 256 * 1024
"""Maximum number of bytes that are read of a process's environment."""

SILENT_SHELLS = frozenset({"ash", "busybox", "dash", "mksh", "posh"})
"""Shells that do not pass SIGHUP on to their jobs, and have no C{disown}."""


@frozen(kw_only=True)
class LeftoverProcess:
    """Process that is still alive after its pane has ended.

    @ivar command: the command line of the process, truncated to L{COMMAND_CHARS}.
    """

    pid: int
    command: str


class ProcessFamily(Protocol):
    """Processes that a pane's program started."""

    async def hang_up_jobs(self) -> None:
        """Send SIGHUP to the jobs of a shell that has ended, if this kind of shell does not do
        so.
        """

    async def find_leftovers(self) -> tuple[LeftoverProcess, ...]:
        """Return the processes that are still alive after L{SETTLE} seconds."""


class UnknownProcessFamily:
    """Family of a pane whose processes this machine cannot see."""

    async def hang_up_jobs(self) -> None:
        """Do nothing, because no process is known."""

    async def find_leftovers(self) -> tuple[LeftoverProcess, ...]:
        """Return nothing, because no process is known."""
        return ()


@frozen(kw_only=True)
class ProcessStat:
    """Process as described by C{/proc/<pid>/stat}.

    @ivar terminal: the kernel's session id of the process: the pid of the session leader.
    @ivar start: the start time, which distinguishes the process from a later one with the same pid.
    @ivar owner: the user id.
    """

    pid: int
    owner: int
    parent: int
    terminal: int
    start: int


@frozen(kw_only=True)
class LocalProcessFamily:
    """Processes that a pane's program started on this machine.

    @ivar program: the pane's program.
    @ivar mark: an environment variable that every process in the pane inherits.
    @ivar shell: the name of the program's executable.
    @ivar descendants: pids and start times of the program's descendants, as of the creation of this
        object.
    """

    clock: IReactorTime
    program: ProcessStat
    mark: bytes
    shell: str
    descendants: frozenset[tuple[int, int]] = field(default=frozenset())

    @classmethod
    async def from_pid(cls, clock: IReactorTime, pid: int, session_id: str) -> ProcessFamily:
        """Return the family of the running program with this pid.

        The family is empty if no such process runs.
        """
        program = read_process(pid)
        if program is None:
            return UnknownProcessFamily()
        shell = ""
        with suppress(OSError):
            shell = os.path.basename(os.readlink(PROC / str(pid) / "exe"))
        found = [each async for each in _iterate_processes(clock)]
        return cls(
            clock=clock,
            program=program,
            mark=b"SERVICE_SESSION_ID=" + session_id.encode(),
            shell=shell,
            descendants=_collect_descendants(pid, found),
        )

    async def hang_up_jobs(self) -> None:
        """See L{ProcessFamily.hang_up_jobs}."""
        if self.shell not in SILENT_SHELLS or _is_alive(self.program):
            return
        for each in await self._find_members():
            if (each.terminal, each.owner) == (self.program.terminal, self.program.owner):
                _hang_up_process(each)

    async def find_leftovers(self) -> tuple[LeftoverProcess, ...]:
        """See L{ProcessFamily.find_leftovers}."""
        members = await self._find_members()
        deadline = self.clock.seconds() + SETTLE
        while members and self.clock.seconds() < deadline:
            await wait_seconds(self.clock, LOOK_EVERY)
            members = [each for each in members if _is_alive(each)]
        named = members[:MOST]
        return tuple(
            LeftoverProcess(pid=each.pid, command=_read_command_line(each.pid)) for each in named
        )

    async def _find_members(self) -> list[ProcessStat]:
        """Return the living processes of the family, except the pane's program and its keeper."""
        ours = {self.program.pid, self.program.terminal}
        return [
            each
            async for each in _iterate_processes(self.clock)
            if each.pid not in ours and self._is_member(each)
        ]

    def _is_member(self, each: ProcessStat) -> bool:
        if os.geteuid() == 0 and each.owner != self.program.owner:
            # It belongs to another user and must not be shown to the session's owner.
            return False
        if each.terminal == self.program.terminal or _is_known(each, self.descendants):
            return True
        return each.start >= self.program.start and _has_environment_mark(each.pid, self.mark)


def read_process(pid: int) -> ProcessStat | None:
    """Return a living process. Return C{None} if no process has that pid, or if it is a zombie."""
    try:
        folder = PROC / str(pid)
        owner = os.stat(folder).st_uid
        data = (folder / "stat").read_bytes()
        # The process name may contain any character, including parentheses and blanks.
        state, *fields = data[data.rindex(b")") + 2 :].split()
        numbers = [int(fields[at]) for at in (0, 2, 18)]
    except (OSError, ValueError, IndexError):
        return None
    if state in (b"Z", b"X"):
        return None
    parent, terminal, start = numbers
    return ProcessStat(pid=pid, owner=owner, parent=parent, terminal=terminal, start=start)


async def _iterate_processes(clock: IReactorTime) -> AsyncIterator[ProcessStat]:
    """Iterate over all living processes, L{AT_ONCE} in each turn of the reactor."""
    names = [name for name in os.listdir(PROC) if name.isdigit()]
    for at, name in enumerate(names, 1):
        found = read_process(int(name))
        if found is not None:
            yield found
        if at % AT_ONCE == 0:
            await wait_seconds(clock, 0)


def _is_alive(process: ProcessStat) -> bool:
    """Return true if this process is still alive, even if its parent has changed."""
    found = read_process(process.pid)
    return found is not None and found.start == process.start


def _is_known(process: ProcessStat, known: frozenset[tuple[int, int]]) -> bool:
    return (process.pid, process.start) in known


def _collect_descendants(pid: int, found: list[ProcessStat]) -> frozenset[tuple[int, int]]:
    children: dict[int, list[ProcessStat]] = {}
    for each in found:
        children.setdefault(each.parent, []).append(each)
    reached: set[ProcessStat] = set()
    waiting = list(children.get(pid, ()))
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += children.get(each.pid, ())
    return frozenset((each.pid, each.start) for each in reached)


def _has_environment_mark(pid: int, mark: bytes) -> bool:
    """Return true if the process was started with C{mark} in its environment.

    If the environment cannot be read, return false.
    """
    try:
        with (PROC / str(pid) / "environ").open("rb") as file:
            return mark in file.read(ENVIRON_BYTES).split(b"\0")
    except OSError:
        return False


def _hang_up_process(process: ProcessStat) -> None:
    """Send SIGHUP to a process, unless its pid was reused by another process."""
    try:
        held = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        if _is_alive(process):
            # A stopped process must be continued to receive the signal.
            for number in (signal.SIGHUP, signal.SIGCONT):
                with suppress(OSError):
                    signal.pidfd_send_signal(held, number)
    finally:
        os.close(held)


def _read_command_line(pid: int) -> str:
    """Return the command line of a process, or the process's name if the command line is empty."""
    for name in ("cmdline", "comm"):
        with suppress(OSError):
            data = (PROC / str(pid) / name).read_bytes()[: 4 * COMMAND_CHARS]
            text = " ".join(data.decode("utf-8", "replace").replace("\0", " ").split())
            if text:
                return "".join(c if c.isprintable() else " " for c in text)[:COMMAND_CHARS]
    return ""
