"""Transport to tmux on the remote end of a L{Way}."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.mux.family import Family, UnknownFamily
from tservice.mux.far import programs
from tservice.mux.far.runner import FarError, IFar
from tservice.mux.far.shell import MARK
from tservice.mux.interface import Liveness, MuxTimeout
from tservice.mux.transport import Child, HeldProcess, Reachability

PID_DIGITS = 10
"""Maximum number of digits in a pid; the remote output may be anything."""


@frozen
class FarTransport:
    """Transport to remote servers. The last part of the socket's path is the name of the server."""

    far: IFar

    def child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> Child:
        return child_of(self.far, programs.attach(socket_path.name, *arguments))

    async def ready(self) -> None:
        if self.far.way.ready is not None:
            await self.far.way.ready()

    def wanted(self) -> None:
        self.far.way.wanted()

    async def reach(self, socket_path: Path) -> Reachability:
        try:
            answer = await self.far.run(programs.reach(socket_path.name))
        except FarError:
            return Reachability.UNKNOWN
        said = {programs.REACHED: Reachability.HERE, programs.ENDED: Reachability.GONE}
        return (
            said.get(answer.out, Reachability.UNKNOWN)
            if answer.status == 0
            else Reachability.UNKNOWN
        )

    async def hold(self, pid: int) -> HeldProcess | None:
        try:
            answer = await self.far.run(programs.identify(pid))
        except FarError:
            return FarProcess(self.far, pid, None)
        identity = answer.out.strip()
        return FarProcess(self.far, pid, identity) if identity else None

    async def hold_server(self, socket_path: Path) -> HeldProcess | None:
        try:
            answer = await self.far.run(programs.listener(socket_path.name))
        except FarError:
            return None
        number = answer.out.strip()
        known = number.isdigit() and len(number) <= PID_DIGITS
        return await self.hold(int(number)) if known else None


def child_of(far: IFar, first: bytes) -> Child:
    """Return a child that runs a line on the remote end.

    @raise MuxTimeout: the connection is known to be closed, so the state of the remote end is
        unknown.
    """
    if not far.way.open():
        raise MuxTimeout("the connection to it is closed")
    way = far.way
    return Child(argv=way.argv(), env=_encoded(way.env), first=first, mark=MARK, spare=way.spare)


@frozen
class FarProcess:
    """Remote process, identified by pid and start time, which are checked and signalled in one
    step.

    @ivar identity: the start time; C{None} if it could not be determined.
    """

    far: IFar
    pid: int
    identity: bytes | None

    async def probe(self) -> Liveness:
        return await self._signal(b"0")

    async def hang_up(self) -> None:
        await self._signal(b"HUP")

    async def kill(self) -> None:
        await self._signal(b"KILL")

    async def _signal(self, name: bytes) -> Liveness:
        if self.identity is None:
            return Liveness.UNKNOWN
        try:
            answer = await self.far.run(programs.signal(self.pid, self.identity, name))
        except FarError:
            return Liveness.UNKNOWN
        said = {b"alive\n": Liveness.ALIVE, b"dead\n": Liveness.DEAD}
        return said.get(answer.out, Liveness.UNKNOWN)

    async def family(self, clock: IReactorTime, session_id: str) -> Family:
        return UnknownFamily()

    def close(self) -> None:
        """Do nothing: this machine holds no resource."""


def _encoded(env: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode("utf-8", "surrogateescape") for name, value in env.items()}
