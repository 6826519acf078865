"""How tmux is reached in a place, whatever is between it and this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import ProcessProtocol

from tservice.mux.family import Family
from tservice.mux.interface import Liveness


class Reachability(Enum):
    """Whether a server listens; L{UNKNOWN} changes nothing and kills nothing."""

    HERE = "here"
    GONE = "gone"
    UNKNOWN = "unknown"


class ISpare(Protocol):
    """A child that was started before it was wanted."""

    def take(self, protocol: ProcessProtocol) -> bool:
        """Let C{protocol} have it; false: there is none."""

    def keep(self) -> None:
        """Have one."""


@frozen(kw_only=True)
class Child:
    """A child to start.

    @ivar argv: its first word is an absolute path.
    @ivar env: its whole environment.
    @ivar first: what it reads before anything else; a child that is handed something has pipes.
    @ivar mark: what it prints to both streams before its own first word; see
        L{tservice.mux.preamble}.
    @ivar spare: has one of the same words and environment, perhaps.
    """

    argv: list[str]
    env: Mapping[bytes, bytes]
    first: bytes = b""
    mark: bytes = b""
    spare: ISpare | None = None


class HeldProcess(Protocol):
    """A process whose number cannot be given to another one meanwhile."""

    async def probe(self) -> Liveness:
        """Whether it lives; never raises."""

    async def hang_up(self) -> None:
        """Tell it by SIGHUP that its terminal is gone; nothing for one that is over."""

    async def kill(self) -> None:
        """End it by SIGKILL; nothing for one that is over."""

    async def family(self, clock: IReactorTime, session_id: str) -> Family:
        """What it has started, as the program of that session's pane."""

    def close(self) -> None:
        """Let go of it."""


class Transport(Protocol):
    """The way to the tmux servers of one place.

    Whatever is asked is answered in a few seconds, also where the way is long or cut; what cannot
    be told is unknown.
    """

    def child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> Child:
        """What runs C{tmux arguments} there, on the server of that socket.

        @param env: the environment of tmux.
        @raise MuxError: nothing can be run there now.
        """

    async def ready(self) -> None:
        """Returns once it is worth looking there; at once where nothing is between."""

    def wanted(self) -> None:
        """Somebody wants to type there: a way that is closed is tried now."""

    async def reach(self, socket_path: Path) -> Reachability:
        """Does a server listen on that socket?  Never raises."""

    async def hold(self, pid: int) -> HeldProcess | None:
        """Take hold of a process there; C{None}: there is none, or it is not that place's.

        Where that cannot be told, what is held answers L{Liveness.UNKNOWN}.
        """

    async def hold_server(self, socket_path: Path) -> HeldProcess | None:
        """Take hold of the server that listens on that socket; C{None}: nobody was seen to."""
