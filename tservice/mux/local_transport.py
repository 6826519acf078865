"""Transports to tmux servers on this machine, as this process's user or as another user."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import stat
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.locations.location import Location
from tservice.core.process.parent_death import make_parent_death_prefix
from tservice.core.users.os_users import find_process_owner
from tservice.mux.interface import Liveness
from tservice.mux.process_family import LocalProcessFamily, ProcessFamily
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability, TmuxTransport

_UCRED = struct.Struct("iII")
"""Layout of the peer credentials (C{SO_PEERCRED}) of a Unix socket: pid, user and group."""


@frozen
class LocalTransport:
    """Transport to tmux servers that run as this process's user on this machine.

    @ivar tmux: absolute path of the tmux program.
    @ivar setpriv: absolute path of the C{setpriv} program of util-linux. With C{setpriv}, a client
        ends together with this process, even by SIGKILL. Without it, an orphaned client can block a
        pane that prints much, until the next service adopts the pane.
    """

    tmux: str
    setpriv: str | None = None

    def build_argv(self, *arguments: str) -> list[str]:
        """Return the command that runs C{tmux arguments}."""
        return [*make_parent_death_prefix(self.setpriv), self.tmux, *arguments]

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        return ChildSpec(argv=self.build_argv("-u", "-S", str(socket_path), *arguments), env=env)

    async def wait_until_ready(self) -> None:
        """Do nothing, because a local server needs no connection."""

    def request_connection(self) -> None:
        """Do nothing, because a local server needs no connection."""

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        return check_socket(socket_path)

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        return open_process(pid)

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        return await hold_listening_process(self, lambda: get_listener_pid(socket_path))


@frozen
class OsUserTransport:
    """Transport to tmux servers of another OS user on this machine. It requires that this process
    is root.

    @ivar tmux: absolute path of the tmux program.
    @ivar place: the location of the OS user.
    """

    tmux: str
    place: Location

    def build_argv(self, *arguments: str) -> list[str]:
        """Return the command that runs C{tmux arguments} as the OS user."""
        return self.place.build_command([self.tmux, *arguments])

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        return ChildSpec(argv=self.build_argv("-u", "-S", str(socket_path), *arguments), env=env)

    async def wait_until_ready(self) -> None:
        """Do nothing, because a local server needs no connection."""

    def request_connection(self) -> None:
        """Do nothing, because a local server needs no connection."""

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        # Connect as the user: a link in the socket's place must not lead to other users' sockets.
        try:
            return self.place.run_file_work(lambda: check_socket(socket_path))
        except OSError:
            return ServerReachability.UNKNOWN

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        held = open_process(pid)
        if held is None:
            return None
        # Checked while the process is held: its pid cannot have been reused since the hold.
        if find_process_owner(pid) == self.place.user.uid and not held.has_ended():
            return held
        held.close()
        return None

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        return await hold_listening_process(
            self, lambda: self.place.run_file_work(lambda: get_listener_pid(socket_path))
        )


def check_socket(
    socket_path: Path, ask: Callable[[Path], object] | None = None
) -> ServerReachability:
    """Check if a server listens on a Unix socket of this machine.

    @param ask: connects to the socket, instead of L{get_listener_pid}. Raises C{OSError} if no
        server answers.
    """
    # tmux accepts a silent connection and forgets it when it closes. A stopped server's socket
    # still accepts, and a full backlog is inconclusive.
    try:
        # Checked first: a server that starts in between is found listening.
        starting = is_starting(socket_path)
        if not stat.S_ISSOCK(os.lstat(socket_path).st_mode):
            # Created by a writer of the folder; never followed, and never reported as unknown.
            raise ConnectionRefusedError
        (ask or get_listener_pid)(socket_path)
    except (ConnectionRefusedError, FileNotFoundError):
        return ServerReachability.UNKNOWN if starting else ServerReachability.GONE
    except OSError:
        return ServerReachability.UNKNOWN
    return ServerReachability.HERE


def open_process(pid: int) -> PidFdProcess | None:
    """Open a pidfd for a process on this machine. Return C{None} if no process has that pid."""
    try:
        return PidFdProcess(os.pidfd_open(pid), pid)
    except OSError:
        return None


def get_listener_pid(socket_path: Path) -> int:
    """Return the pid of the process that listens on a socket.

    The result is 0 if that process is in a pid namespace that this process cannot see.

    @raise OSError: no process listens, or the socket cannot be reached.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        probe.connect(str(socket_path))
        credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    pid: int = _UCRED.unpack(credentials)[0]
    return pid


def is_starting(socket_path: Path) -> bool:
    """Return true while a tmux server is starting on this socket.

    In that state, the socket exists but still refuses connections.

    @raise OSError: this cannot be determined.
    """
    # The starter of a server holds this lock from before the socket exists until it listens.
    name = f"{socket_path}.lock"
    # The owner of the folder may have put a link or a pipe there.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


async def hold_listening_process(
    transport: TmuxTransport, listener: Callable[[], int]
) -> HeldProcess | None:
    """Return a handle to the process that listens on a socket, so that its pid is not reused.

    The result is C{None} if no process listens, or if another one does by now.

    @param listener: returns the pid of the listening process; called before and after the handle
        is opened.
    """
    try:
        pid = listener()
        held = await transport.acquire_process(pid) if pid else None
        # Checked again while the process is held: its pid cannot be reused now.
        if held is None or listener() == pid:
            return held
    except OSError:
        return None
    held.close()
    return None


class PidFdProcess:
    """Process held by a pidfd, a file descriptor that refers to the process."""

    _log = Logger()

    def __init__(self, descriptor: int, pid: int) -> None:
        self._descriptor = descriptor
        self._pid = pid

    async def get_liveness(self) -> Liveness:
        return Liveness.DEAD if self.has_ended() else Liveness.ALIVE

    def has_ended(self) -> bool:
        """Return true if the process has ended."""
        # Not select(2), which supports no descriptor above 1023.
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        return bool(poller.poll(0))

    async def send_hangup(self) -> None:
        self._send_signal(signal.SIGHUP)

    async def kill(self) -> None:
        self._send_signal(signal.SIGKILL)

    async def find_family(self, clock: IReactorTime, session_id: str) -> ProcessFamily:
        return await LocalProcessFamily.from_pid(clock, self._pid, session_id)

    def _send_signal(self, number: signal.Signals) -> None:
        try:
            signal.pidfd_send_signal(self._descriptor, number)
        except ProcessLookupError:
            self._log.debug("the process ended by itself")
        except PermissionError:
            # It became another user's (sudo), or the pid is wrong: the pane's program can write the
            # stored one. Its terminal is gone in either case.
            self._log.warn("a pane's process belongs to another user and was not ended")

    def close(self) -> None:
        os.close(self._descriptor)
