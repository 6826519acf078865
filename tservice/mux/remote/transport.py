"""Transport to tmux servers on a L{RemoteEnd}."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.mux.interface import Liveness, MuxTimeout
from tservice.mux.process_family import ProcessFamily, UnknownProcessFamily
from tservice.mux.remote import remote_programs
from tservice.mux.remote.runner import RemoteEnd, RemoteError
from tservice.mux.remote.shell_quoting import MARK
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability

PID_DIGITS = 10
"""Maximum number of digits in a pid. The limit exists because the remote output is untrusted."""


@frozen
class RemoteTransport:
    """Transport to remote tmux servers. The last part of a socket's path is the name of the
    server.
    """

    remote: RemoteEnd

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        return build_remote_child(
            self.remote, remote_programs.build_attach_command(socket_path.name, *arguments)
        )

    async def wait_until_ready(self) -> None:
        if self.remote.channel.wait_until_ready is not None:
            await self.remote.channel.wait_until_ready()

    def request_connection(self) -> None:
        self.remote.channel.request_connection()

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        try:
            answer = await self.remote.run_program(
                remote_programs.build_reachability_command(socket_path.name)
            )
        except RemoteError:
            return ServerReachability.UNKNOWN
        said = {
            remote_programs.REACHED: ServerReachability.HERE,
            remote_programs.ENDED: ServerReachability.GONE,
        }
        return (
            said.get(answer.out, ServerReachability.UNKNOWN)
            if answer.status == 0
            else ServerReachability.UNKNOWN
        )

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        try:
            answer = await self.remote.run_program(remote_programs.build_identity_command(pid))
        except RemoteError:
            return RemoteProcess(self.remote, pid, None)
        identity = answer.out.strip()
        return RemoteProcess(self.remote, pid, identity) if identity else None

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        try:
            answer = await self.remote.run_program(
                remote_programs.build_listener_command(socket_path.name)
            )
        except RemoteError:
            return None
        number = answer.out.strip()
        known = number.isdigit() and len(number) <= PID_DIGITS
        return await self.acquire_process(int(number)) if known else None


def build_remote_child(far: RemoteEnd, first: bytes) -> ChildSpec:
    """Return a child that runs a command line on the remote host.

    @param first: the command line, which the remote end reads first.
    @raise MuxTimeout: the connection is known to be closed, so the state of the remote end is
        unknown.
    """
    if not far.channel.is_open():
        raise MuxTimeout("the connection to it is closed")
    way = far.channel
    return ChildSpec(
        argv=way.build_argv(),
        env=_encode_environment(way.env),
        initial_input=first,
        mark=MARK,
        preopened=way.preopened,
    )


@frozen
class RemoteProcess:
    """Remote process, identified by pid and start time. One remote command checks both and sends
    the signal.

    @ivar identity: the start time; C{None} if it could not be determined.
    """

    remote: RemoteEnd
    pid: int
    identity: bytes | None

    async def get_liveness(self) -> Liveness:
        return await self._send_signal(b"0")

    async def send_hangup(self) -> None:
        await self._send_signal(b"HUP")

    async def kill(self) -> None:
        await self._send_signal(b"KILL")

    async def _send_signal(self, name: bytes) -> Liveness:
        if self.identity is None:
            return Liveness.UNKNOWN
        try:
            answer = await self.remote.run_program(
                remote_programs.build_signal_command(self.pid, self.identity, name)
            )
        except RemoteError:
            return Liveness.UNKNOWN
        said = {b"alive\n": Liveness.ALIVE, b"dead\n": Liveness.DEAD}
        return said.get(answer.out, Liveness.UNKNOWN)

    async def find_family(self, clock: IReactorTime, session_id: str) -> ProcessFamily:
        return UnknownProcessFamily()

    def close(self) -> None:
        """Do nothing, because this machine holds no resource of the remote process."""


def _encode_environment(env: Mapping[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode("utf-8", "surrogateescape") for name, value in env.items()}
