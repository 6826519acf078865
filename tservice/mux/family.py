"""What a pane's program started, and what of it is left once the pane is over (protocol-delete).

A shell tells its jobs by SIGHUP that their terminal is gone, but for those that were disowned, and
C{nohup} has a program ignore that.  What C{setsid} started belongs to the terminal no more, but has
the pane's environment.
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
"""Processes that are looked at in one turn of the reactor."""
SETTLE = 1.0
"""Seconds for what was told to end, or what its end ends, to be gone."""
LOOK_EVERY = 0.02
MOST = 50
"""Processes that are named at most."""
COMMAND_CHARS = 200
"""Characters of a command line."""
ENVIRON_BYTES = 256 * 1024
"""Bytes of an environment that are looked at."""

SILENT_SHELLS = frozenset({"ash", "busybox", "dash", "mksh", "posh"})
"""Shells that tell their jobs nothing when they are hung up, and have no C{disown}."""


@frozen(kw_only=True)
class Leftover:
    """A process that outlives its pane.

    @ivar command: its command line, one line, cut where it is long.
    """

    pid: int
    command: str


class Family(Protocol):
    """The processes of one pane."""

    async def hang_up(self) -> None:
        """Tell the jobs of a shell that has ended, where it is one that tells them nothing."""

    async def left(self) -> tuple[Leftover, ...]:
        """What is left of them, once all that ends has had a moment to do so."""


class UnknownFamily:
    """The processes of a pane that cannot be seen from here."""

    async def hang_up(self) -> None:
        """Nobody is known."""

    async def left(self) -> tuple[Leftover, ...]:
        """Nothing is known."""
        return ()


@frozen(kw_only=True)
class Process:
    """A process as C{/proc/<pid>/stat} has it.

    @ivar terminal: the number of its session, which is that of the session's leader.
    @ivar start: tells it from a later one of its number.
    @ivar owner: its user.
    """

    pid: int
    owner: int
    parent: int
    terminal: int
    start: int


@frozen(kw_only=True)
class LocalFamily:
    """Those of a program of this machine.

    @ivar program: the pane's program.
    @ivar mark: what stands in the environment of everything in the pane.
    @ivar shell: the program's name.
    @ivar known: the numbers and starts of the program's descendants at the time of the first look.
    """

    clock: IReactorTime
    program: Process
    mark: bytes
    shell: str
    known: frozenset[tuple[int, int]] = field(default=frozenset())

    @classmethod
    async def of(cls, clock: IReactorTime, pid: int, session_id: str) -> Family:
        """The family of a program that runs."""
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
        """Who of the family lives, but for the pane's program and what keeps it."""
        ours = {self.program.pid, self.program.terminal}
        return [
            each
            async for each in _processes(self.clock)
            if each.pid not in ours and self._is_member(each)
        ]

    def _is_member(self, each: Process) -> bool:
        if os.geteuid() == 0 and each.owner != self.program.owner:
            # It is another user's, of whom the session's owner may be told nothing.
            return False
        if each.terminal == self.program.terminal or _is_of(each, self.known):
            return True
        return each.start >= self.program.start and _has(each.pid, self.mark)


def read_process(pid: int) -> Process | None:
    """A process that lives; C{None}: there is none, or it is over and nobody waited for it."""
    try:
        folder = PROC / str(pid)
        owner = os.stat(folder).st_uid
        data = (folder / "stat").read_bytes()
        # Its name may hold anything, parentheses and blanks too.
        state, *fields = data[data.rindex(b")") + 2 :].split()
        numbers = [int(fields[at]) for at in (0, 2, 18)]
    except (OSError, ValueError, IndexError):
        return None
    if state in (b"Z", b"X"):
        return None
    parent, terminal, start = numbers
    return Process(pid=pid, owner=owner, parent=parent, terminal=terminal, start=start)


async def _processes(clock: IReactorTime) -> AsyncIterator[Process]:
    """Every process that lives, a few in each turn of the reactor."""
    names = [name for name in os.listdir(PROC) if name.isdigit()]
    for at, name in enumerate(names, 1):
        found = read_process(int(name))
        if found is not None:
            yield found
        if at % AT_ONCE == 0:
            await sleep(clock, 0)


def _lives(process: Process) -> bool:
    """Whether it does, whoever its parent is by now."""
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
    """Whether a process was started with C{mark} in its environment, as far as that can be seen."""
    try:
        with (PROC / str(pid) / "environ").open("rb") as file:
            return mark in file.read(ENVIRON_BYTES).split(b"\0")
    except OSError:
        return False


def _tell(process: Process) -> None:
    """Hang a process up, unless its number is another one's by now."""
    try:
        held = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        if _lives(process):
            # A stopped one must go on to hear of it.
            for number in (signal.SIGHUP, signal.SIGCONT):
                with suppress(OSError):
                    signal.pidfd_send_signal(held, number)
    finally:
        os.close(held)


def _command(pid: int) -> str:
    """Its command line; its name where it has none."""
    for name in ("cmdline", "comm"):
        with suppress(OSError):
            data = (PROC / str(pid) / name).read_bytes()[: 4 * COMMAND_CHARS]
            text = " ".join(data.decode("utf-8", "replace").replace("\0", " ").split())
            if text:
                return "".join(c if c.isprintable() else " " for c in text)[:COMMAND_CHARS]
    return ""
