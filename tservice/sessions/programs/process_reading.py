"""Reading of the programs in a pane from C{/proc}. All functions block, and belong in a thread."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

from tservice.sessions.record.model import ForegroundProgram
from tservice.terminal.model_name import sanitize_text

PROC = Path("/proc")
NAME_CHARS = 60
"""Maximum characters of a program's name."""
PORTS = 8
"""Maximum number of ports that are reported of a session."""
ENVIRON_BYTES = 256 * 1024
"""Maximum number of bytes that are read of a process's environment."""

_LISTEN = "0A"
_MARK = b"SERVICE_SESSION_ID="
_INTERPRETER = re.compile(r"(?:ba|da|z|k|fi)?sh|python[\d.]*|node|ruby|perl|php|deno|bun")
_SOCKET = re.compile(r"socket:\[(\d+)\]")


@frozen(kw_only=True)
class PaneProgram:
    """Program of a pane, as the service knows it.

    @ivar is_shell: true if the program runs the commands of a person.
    """

    session_id: str
    pid: int
    is_shell: bool


@frozen(kw_only=True)
class _Process:
    """Process as described by C{/proc/<pid>/stat}.

    @ivar group: id of its process group.
    @ivar foreground: id of the process group in the foreground of its terminal.
    @ivar start: start time in clock ticks after the boot.
    """

    group: int
    foreground: int
    start: int


def read_foreground(program: PaneProgram, now: int, proc: Path = PROC) -> ForegroundProgram | None:
    """Return the program in the foreground of a shell's terminal; C{None} at the prompt.

    @param now: the present time in Unix milliseconds.
    """
    shell = _read_process(program.pid, proc)
    if shell is None or shell.foreground in (-1, 0, shell.group):
        return None
    leader = _read_process(shell.foreground, proc)
    name = _read_name(shell.foreground, proc)
    if leader is None or not name:
        return None
    try:
        uptime = float((proc / "uptime").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    age = uptime - leader.start / os.sysconf("SC_CLK_TCK")
    return ForegroundProgram(name=name, since=now - max(0, int(age * 1000)))


def name_program(argv: list[str]) -> str:
    """Return the name that people call a command by: its program's, or that of its script."""
    words = [word for word in argv if word]
    if not words:
        return ""
    name = _base_name(words[0])
    if len(words) > 1 and _INTERPRETER.fullmatch(name) and not words[1].startswith("-"):
        name = _base_name(words[1])
    return sanitize_text(name, NAME_CHARS) or ""


def _base_name(word: str) -> str:
    # A login shell is called "-bash", and npm calls itself "npm run dev".
    program, *rest = word.split(" ")
    return " ".join([os.path.basename(program).lstrip("-") or program, *rest])


def _read_name(pid: int, proc: Path) -> str:
    with suppress(OSError):
        data = (proc / str(pid) / "cmdline").read_bytes()[:4096]
        return name_program(data.decode("utf-8", "replace").split("\0"))
    return ""


def _read_process(pid: int, proc: Path) -> _Process | None:
    try:
        data = (proc / str(pid) / "stat").read_bytes()
        # The process name may contain any character, including parentheses and blanks.
        fields = data[data.rindex(b")") + 2 :].split()
        group, foreground, start = (int(fields[at]) for at in (2, 5, 19))
    except (OSError, ValueError, IndexError):
        return None
    return _Process(group=group, foreground=foreground, start=start)


@frozen(kw_only=True)
class ListeningSockets:
    """Sockets of this machine that accept TCP connections.

    @ivar ports: port of each socket, by its inode.
    @ivar owners: id of the session whose program holds the socket, by its inode; empty for the
        sockets of other programs.
    """

    ports: Mapping[int, int] = field(factory=dict)
    owners: Mapping[int, str] = field(factory=dict)

    def list_ports(self, session_id: str) -> tuple[int, ...] | None:
        """Return the lowest L{PORTS} ports of a session; C{None} without any."""
        found = {port for inode, port in self.ports.items() if self.owners[inode] == session_id}
        return tuple(sorted(found)[:PORTS]) or None


def read_listening_sockets(
    before: ListeningSockets, programs: Iterable[PaneProgram], proc: Path = PROC
) -> ListeningSockets:
    """Return the listening sockets of this machine.

    The owners of known sockets are not looked up again, so that a machine on which nothing changes
    costs two small files.  An agent's own sockets count as those of no session.

    @param before: the result of the last call.
    """
    ports = _read_ports(proc)
    new = ports.keys() - before.owners.keys()
    known = {inode: owner for inode, owner in before.owners.items() if inode in ports}
    if new:
        known |= dict.fromkeys(new, "") | _find_owners(new, programs, proc)
    return ListeningSockets(ports=ports, owners=known)


def _read_ports(proc: Path) -> dict[int, int]:
    found: dict[int, int] = {}
    for name in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            if len(words) > 9 and words[3] == _LISTEN:
                found[int(words[9])] = int(words[1].rpartition(":")[2], 16)
    return found


def _find_owners(
    inodes: Iterable[int], programs: Iterable[PaneProgram], proc: Path
) -> dict[int, str]:
    by_id = {program.session_id: program for program in programs}
    wanted, found = set(inodes), dict[int, str]()
    for pid in _list_pids(proc):
        held = _list_sockets(pid, proc) & wanted
        if held:
            owner = _find_session(pid, by_id, proc)
            found |= dict.fromkeys(held, owner) if owner else {}
    return found


def _list_pids(proc: Path) -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir(proc) if name.isdigit()]
    return []


def _list_sockets(pid: int, proc: Path) -> set[int]:
    folder, found = proc / str(pid) / "fd", set[int]()
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if match := _SOCKET.fullmatch(os.readlink(folder / name)):
                    found.add(int(match[1]))
    return found


def _find_session(pid: int, programs: Mapping[str, PaneProgram], proc: Path) -> str:
    """Return the id of the session that a process belongs to; empty for none, and for the agent
    itself.
    """
    try:
        with (proc / str(pid) / "environ").open("rb") as file:
            variables = file.read(ENVIRON_BYTES).split(b"\0")
    except OSError:
        return ""
    marks = [each for each in variables if each.startswith(_MARK)]
    program = programs.get(marks[-1][len(_MARK) :].decode("ascii", "replace")) if marks else None
    if program is None:
        return ""
    if not program.is_shell and _is_agent_itself(pid, program, proc):
        return ""
    return program.session_id


def _is_agent_itself(pid: int, program: PaneProgram, proc: Path) -> bool:
    """Return true for a process in the foreground of an agent's terminal: the agent and its
    helpers, in contrast to the commands that it runs.
    """
    process = _read_process(pid, proc)
    return process is None or pid == program.pid or process.group == process.foreground
