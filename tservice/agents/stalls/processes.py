"""Programs that an agent started, from C{/proc}.  The functions block, and belong in a thread."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

PROC = Path("/proc")
MOST_PROCESSES = 4000
"""Maximum number of processes of the machine that are read; beyond it nothing is reported."""
HELPER_SECONDS = 10
"""Seconds after its own start in which an agent starts its helpers, such as itself once more with
other options, or its MCP servers. They use the processor whatever its tools do.
"""
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_READS_TERMINAL = re.compile(r"n_tty_read|tty_read|wait_woken")
_TERMINAL = re.compile(r"/dev/(?:pts/\d+|tty\w*)")
INTERACTIVE = frozenset(
    {
        "less", "more", "most", "man", "vi", "vim", "nvim", "view", "nano", "pico", "emacs", "ed",
        "joe", "micro", "hx", "sudo", "su", "ssh", "sftp", "scp", "passwd", "gpg",
        "pinentry-curses", "pinentry-tty", "ssh-add", "ssh-keygen", "dialog", "whiptail", "mysql",
        "psql", "login", "doas",
    }
)  # fmt: skip
"""Programs that ask a person at the terminal: passwords, pagers and editors."""


@frozen(kw_only=True)
class StartedProgram:
    """Program below an agent's process.

    @ivar state: letter of C{/proc/PID/stat}.
    @ivar terminal: number of its controlling terminal; 0 without one.
    @ivar in_foreground: true if it is in the foreground group of that terminal.
    @ivar has_terminal_open: true if one of its descriptors is a terminal.
    @ivar channel: kernel function in which it sleeps; empty if unknown.
    @ivar ticks: clock ticks of the processor that it used.
    @ivar is_helper: true if it started together with the agent, so no tool started it.
    """

    pid: int
    name: str
    state: str
    terminal: int
    in_foreground: bool
    has_terminal_open: bool
    channel: str
    ticks: int
    is_helper: bool = False


@frozen(kw_only=True)
class StartedPrograms:
    """Programs below one agent's process.

    @ivar waiting: name of one that waits for a person at the terminal; C{None} without one.
    @ivar ticks: clock ticks that they have used by process id; without the agent's helpers.
    """

    waiting: str | None = None
    ticks: Mapping[int, int] = field(factory=dict)

    def has_used_cpu_since(self, before: StartedPrograms) -> bool:
        """Return true if one used the processor, or is new, since C{before} was read."""
        return any(ticks > before.ticks.get(pid, -1) for pid, ticks in self.ticks.items())


def read_started_programs(
    agents: Mapping[str, int], proc: Path = PROC
) -> dict[str, StartedPrograms]:
    """Return the programs below the processes of agents, by session.

    @param agents: process id of each session's agent.
    """
    below = _list_children(proc)
    return {name: _summarise(_read_family(pid, below, proc)) for name, pid in agents.items()}


def find_waiting_program(programs: Sequence[StartedProgram]) -> str | None:
    """Return the name of a program that waits for a person at the terminal.

    It sleeps in a read of the terminal, or it was stopped because it read in the background. A
    program that is known to ask waits if it sleeps and holds the terminal open.
    """
    for program in programs:
        if program.terminal == 0 or not program.has_terminal_open:
            continue
        if program.state == "T" and not program.in_foreground:
            return program.name
        if program.state != "S":
            continue
        reads = _READS_TERMINAL.search(program.channel) is not None
        if program.name in INTERACTIVE and (reads or not program.channel.strip("0")):
            return program.name
        if reads and "wait_woken" not in program.channel:
            return program.name
    return None


def _summarise(programs: Sequence[StartedProgram]) -> StartedPrograms:
    return StartedPrograms(
        waiting=find_waiting_program(programs),
        ticks={program.pid: program.ticks for program in programs if not program.is_helper},
    )


def _list_children(proc: Path) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    pids = [int(name) for name in os.listdir(proc) if name.isdigit()]
    for pid in pids if len(pids) <= MOST_PROCESSES else ():
        fields = _read_stat(pid, proc)
        if fields is not None:
            found.setdefault(int(fields[2]), []).append(pid)
    return found


def _read_family(pid: int, below: Mapping[int, list[int]], proc: Path) -> list[StartedProgram]:
    agent = _read_stat(pid, proc)
    if agent is None:
        return []
    helpers_until = _get_start_tick(agent) + HELPER_SECONDS * _TICKS_PER_SECOND
    found: list[StartedProgram] = []
    ahead = list(below.get(pid, ()))
    while ahead:
        child = ahead.pop()
        ahead += below.get(child, ())
        program = _read_program(child, proc, helpers_until)
        if program is not None:
            found.append(program)
    return found


def _read_stat(pid: int, proc: Path) -> list[bytes] | None:
    """Return the name of a process and the fields of its C{stat} after the name."""
    try:
        data = (proc / str(pid) / "stat").read_bytes()
        start, end = data.index(b"("), data.rindex(b")")
    except (OSError, ValueError):
        return None
    fields = data[end + 2 :].split()
    return [data[start + 1 : end], *fields] if len(fields) > 20 else None


def _get_start_tick(fields: Sequence[bytes]) -> int:
    """Return the clock ticks between the start of the machine and the start of a process."""
    return int(fields[20])


def _read_program(pid: int, proc: Path, helpers_until: int) -> StartedProgram | None:
    fields = _read_stat(pid, proc)
    if fields is None:
        return None
    terminal = int(fields[5])
    return StartedProgram(
        pid=pid,
        name=fields[0].decode("utf-8", "replace"),
        state=fields[1].decode("ascii", "replace"),
        terminal=terminal,
        in_foreground=fields[3] == fields[6],
        has_terminal_open=terminal != 0 and _has_terminal_open(pid, proc),
        channel=_read_channel(pid, proc),
        ticks=int(fields[12]) + int(fields[13]),
        is_helper=_get_start_tick(fields) <= helpers_until,
    )


def _read_channel(pid: int, proc: Path) -> str:
    with suppress(OSError):
        return (proc / str(pid) / "wchan").read_text("utf-8", "replace")
    return ""


def _has_terminal_open(pid: int, proc: Path) -> bool:
    folder = proc / str(pid) / "fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if _TERMINAL.fullmatch(os.readlink(folder / name)):
                    return True
    return False
