"""Interface of the transports to tmux servers, independent of the kind of connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import ProcessProtocol

from tservice.mux.interface import Liveness
from tservice.mux.process_family import ProcessFamily


class ServerReachability(Enum):
    """Result of a check for a listening server. After L{UNKNOWN}, callers change and kill
    nothing.
    """

    HERE = "here"
    GONE = "gone"
    UNKNOWN = "unknown"


class PreopenedChild(Protocol):
    """Provider of a child process that was started before it was needed."""

    def hand_over_child(self, protocol: ProcessProtocol) -> bool:
        """Hand the child to C{protocol}. Return false if no child is ready."""

    def start_idle_child(self) -> None:
        """Start a child in advance."""


@frozen(kw_only=True)
class ChildSpec:
    """Description of a child process to start.

    @ivar argv: program and arguments. The program is an absolute path.
    @ivar env: the whole environment of the child.
    @ivar initial_input: bytes that the child reads before any other input. If not empty, the child
        is connected by pipes.
    @ivar mark: line that the child prints to both streams before its own output; see
        L{tservice.mux.preamble}.
    @ivar preopened: provides a running child with the same arguments and environment, if possible.
    """

    argv: list[str]
    env: Mapping[bytes, bytes]
    initial_input: bytes = b""
    mark: bytes = b""
    preopened: PreopenedChild | None = None


class HeldProcess(Protocol):
    """Process whose pid cannot be reused while it is held."""

    async def get_liveness(self) -> Liveness:
        """Check if the process is alive. This never raises an exception."""

    async def send_hangup(self) -> None:
        """Send SIGHUP, as the kernel does when a terminal is closed. Do nothing if the process has
        ended.
        """

    async def kill(self) -> None:
        """Send SIGKILL. Do nothing if the process has ended."""

    async def find_family(self, clock: IReactorTime, session_id: str) -> ProcessFamily:
        """Return the processes that this process started, as the program of that session's pane."""

    def close(self) -> None:
        """Release the process, so that its pid can be reused."""


class TmuxTransport(Protocol):
    """Connection to the tmux servers of one location.

    Every call returns within a few seconds, even over a slow or broken connection. A state that
    cannot be determined is reported as unknown.
    """

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        """Return a child that runs C{tmux arguments} on the server with this socket.

        @param env: the environment of tmux.
        @raise MuxError: the location cannot run a process now.
        """

    async def wait_until_ready(self) -> None:
        """Wait until a check for a server makes sense. Return immediately for a local server."""

    def request_connection(self) -> None:
        """Announce that input is about to be typed. If the connection is closed, retry to connect
        now.
        """

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        """Check if a server listens on that socket. This never raises an exception."""

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        """Hold a process of this location.

        Return C{None} if no process has that pid, or if it belongs to another location. If this
        cannot be determined, the held process reports L{Liveness.UNKNOWN}.
        """

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        """Hold the server process that listens on that socket. Return C{None} if no server was
        found.
        """
