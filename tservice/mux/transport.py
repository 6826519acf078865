"""Transport to tmux in a place, independent of the connection in between."""

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
    """Result of the check for a listening server. After L{UNKNOWN} nothing is changed and nothing
    is killed.
    """

    HERE = "here"
    GONE = "gone"
    UNKNOWN = "unknown"


class PreopenedChild(Protocol):
    """Provider of a child that was started before it was needed."""

    def hand_over(self, protocol: ProcessProtocol) -> bool:
        """Hand the child to C{protocol}; return false if there is none."""

    def open_ahead(self) -> None:
        """Start a child in advance."""


@frozen(kw_only=True)
class ChildSpec:
    """Description of a child process to start.

    @ivar argv: its command; the first word is an absolute path.
    @ivar env: its whole environment.
    @ivar first: bytes that it reads before anything else; a child with such input has pipes.
    @ivar mark: the mark that it prints to both streams before its own output; see
        L{tservice.mux.preamble}.
    @ivar spare: may provide a running child with the same words and environment.
    """

    argv: list[str]
    env: Mapping[bytes, bytes]
    initial_input: bytes = b""
    mark: bytes = b""
    preopened: PreopenedChild | None = None


class HeldProcess(Protocol):
    """Process whose pid cannot be reused while it is held."""

    async def get_liveness(self) -> Liveness:
        """Return the liveness of the process; never raises."""

    async def send_hangup(self) -> None:
        """Send SIGHUP, as if its terminal were gone; do nothing if it has ended."""

    async def kill(self) -> None:
        """Send SIGKILL; do nothing if it has ended."""

    async def find_family(self, clock: IReactorTime, session_id: str) -> ProcessFamily:
        """Return the processes that it has started, as the program of that session's pane."""

    def close(self) -> None:
        """Release the process."""


class TmuxTransport(Protocol):
    """Connection to the tmux servers of one place.

    Every call returns within a few seconds, even over a slow or broken connection. A state that
    cannot be determined is unknown.
    """

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        """Return a child that runs C{tmux arguments} there, on the server of that socket.

        @param env: the environment of tmux.
        @raise MuxError: nothing can be run there now.
        """

    async def wait_until_ready(self) -> None:
        """Wait until looking for a server there makes sense; return immediately if it is local."""

    def request_connection(self) -> None:
        """Announce that input is about to be typed there: a closed connection is retried now."""

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        """Return the reachability of the server on that socket. Never raises."""

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        """Hold a process there; return C{None} if there is none, or if it belongs to another place.

        If that cannot be determined, the held process answers L{Liveness.UNKNOWN}.
        """

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        """Hold the server that listens on that socket; return C{None} if none was seen."""
