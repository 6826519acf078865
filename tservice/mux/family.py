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

from tservice.core.clock import sleep

PROC = Path("/proc")
AT_ONCE = 100
"""Processes that are examined in one turn of the reactor."""
SETTLE = 1.0
"""Seconds that processes get to exit after the hangup."""
LOOK_EVERY = 0.02
MOST = 50
"""Maximum number of leftover processes that are reported."""
COMMAND_CHARS = 200
"""Maximum number of characters of a reported command line."""
ENVIRON_BYTES = 256 * 1024
"""Maximum number of bytes read of a process's environment."""

SILENT_SHELLS = frozenset({"ash", "busybox", "dash", "mksh", "posh"})
"""Shells that do not hang up their jobs when they are hung up, and have no C{disown}."""


@frozen(kw_only=True)
class Leftover:
    """Process that outlives its pane.

    @ivar command: its command line as one line, truncated to L{COMMAND_CHARS}.
    """

    pid: int
    command: str


class Family(Protocol):
    """The processes of one pane."""

    async def hang_up(self) -> None:
        """Send SIGHUP to the jobs of an ended shell, if the shell does not do so itself."""

    async def left(self) -> tuple[Leftover, ...]:
        """Return the processes that are still alive after L{SETTLE} seconds."""


class UnknownFamily:
    """Processes of a pane that this machine cannot see."""

    async def hang_up(self) -> None:
        """Do nothing, because no process is known."""

    async def left(self) -> tuple[Leftover, ...]:
        """Return nothing, because no process is known."""
        return ()


@frozen(kw_only=True)
class Process:
    """Process as described by C{/proc/<pid>/stat}.

    @ivar terminal: the process's session id, which is the pid of the session leader.
    @ivar start: the start time, which distinguishes it from a later process with the same pid.
    @ivar owner: the user id.
    """

    pid: int
    owner: int
    parent: int
    terminal: int
    start: int


@frozen(kw_only=True)
class LocalFamily:
    """Processes of a pane's program on this machine.

    @ivar program: the pane's program.
    @ivar mark: the variable that the environment of every process in the pane contains.
    @ivar shell: the name of the program's executable.
    @ivar known: the pids and start times of the program's descendants when this object was made.
    """

    clock: IReactorTime
    program: Process
    mark: bytes
    shell: str
    known: frozenset[tuple[int, int]] = field(default=frozenset())

    @classmethod
    async def of(cls, clock: IReactorTime, pid: int, session_id: str) -> Family:
        """Return the family of the running program with this pid."""
        program = read_process(pid)
        if program is None:
            return UnknownFamily()
        shell = ""
        with suppress(OSError):
            shell = os.path.basename(os.readlink(PROC / str(pid) / "exe"))
        found = [each async for each in _processes(clock)]
        return cls(
            clock=clock,
            program=program,
            mark=b"SERVICE_SESSION_ID=" + session_id.encode(),
            shell=shell,
            known=_descendants(pid, found),
        )

    async def hang_up(self) -> None:
        """See L{Family.hang_up}."""
        if self.shell not in SILENT_SHELLS or _lives(self.program):
            return
        for each in await self._members():
            if (each.terminal, each.owner) == (self.program.terminal, self.program.owner):
                _tell(each)

    async def left(self) -> tuple[Leftover, ...]:
        """See L{Family.left}."""
        members = await self._members()
        deadline = self.clock.seconds() + SETTLE
        while members and self.clock.seconds() < deadline:
            await sleep(self.clock, LOOK_EVERY)
            members = [each for each in members if _lives(each)]
        named = members[:MOST]
        return tuple(Leftover(pid=each.pid, command=_command(each.pid)) for each in named)

    async def _members(self) -> list[Process]:
        """Return the living members, except the pane's program and its keeper."""
        ours = {self.program.pid, self.program.terminal}
        return [
            each
            async for each in _processes(self.clock)
            if each.pid not in ours and self._is_member(each)
        ]

    def _is_member(self, each: Process) -> bool:
        if os.geteuid() == 0 and each.owner != self.program.owner:
            # It belongs to another user and must not be shown to the session's owner.
            return False
        if each.terminal == self.program.terminal or _is_of(each, self.known):
            return True
        return each.start >= self.program.start and _has(each.pid, self.mark)


def read_process(pid: int) -> Process | None:
    """Return a living process. Return C{None} if there is none, or if it is a zombie."""
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
    return Process(pid=pid, owner=owner, parent=parent, terminal=terminal, start=start)


async def _processes(clock: IReactorTime) -> AsyncIterator[Process]:
    """Iterate over all living processes, L{AT_ONCE} in each turn of the reactor."""
    names = [name for name in os.listdir(PROC) if name.isdigit()]
    for at, name in enumerate(names, 1):
        found = read_process(int(name))
        if found is not None:
            yield found
        if at % AT_ONCE == 0:
            await sleep(clock, 0)


def _lives(process: Process) -> bool:
    """Return true if this very process still lives, even if its parent has changed."""
    found = read_process(process.pid)
    return found is not None and found.start == process.start


def _is_of(process: Process, known: frozenset[tuple[int, int]]) -> bool:
    return (process.pid, process.start) in known


def _descendants(pid: int, found: list[Process]) -> frozenset[tuple[int, int]]:
    children: dict[int, list[Process]] = {}
    for each in found:
        children.setdefault(each.parent, []).append(each)
    reached: set[Process] = set()
    waiting = list(children.get(pid, ()))
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += children.get(each.pid, ())
    return frozenset((each.pid, each.start) for each in reached)


def _has(pid: int, mark: bytes) -> bool:
    """Return true if the process was started with C{mark} in its environment. An unreadable
    environment counts as no.
    """
    try:
        with (PROC / str(pid) / "environ").open("rb") as file:
            return mark in file.read(ENVIRON_BYTES).split(b"\0")
    except OSError:
        return False


def _tell(process: Process) -> None:
    """Hang up a process, unless its pid belongs to another process by now."""
    try:
        held = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        if _lives(process):
            # A stopped process must be continued to receive the signal.
            for number in (signal.SIGHUP, signal.SIGCONT):
                with suppress(OSError):
                    signal.pidfd_send_signal(held, number)
    finally:
        os.close(held)


def _command(pid: int) -> str:
    """Return the command line of a process, or its name if it has no command line."""
    for name in ("cmdline", "comm"):
        with suppress(OSError):
            data = (PROC / str(pid) / name).read_bytes()[: 4 * COMMAND_CHARS]
            text = " ".join(data.decode("utf-8", "replace").replace("\0", " ").split())
            if text:
                return "".join(c if c.isprintable() else " " for c in text)[:COMMAND_CHARS]
    return ""
