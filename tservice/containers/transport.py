"""Transport to tmux in a container: commands run by the engine's C{exec}, and processes are watched
by the kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from tservice.containers import procfs
from tservice.containers.command_lines import EngineDialect
from tservice.containers.isolation import SERVICE_FOLDER
from tservice.mux.interface import MuxError
from tservice.mux.local_transport import hold_listening_process
from tservice.mux.tmux.sockets import SocketFolder, find_sockets, remove_entry
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability

SOCKETS = f"{SERVICE_FOLDER}/s"
"""Folder of the servers' sockets inside."""
LIBRARY = f"{SERVICE_FOLDER}/lib"
"""Folder inside with the files that servers are started with."""


@frozen(kw_only=True)
class ContainerTransport:
    """Transport to the servers of one container.

    @ivar first: returns the number of its first process on this machine; 0 without one.
    @ivar folder: the folder of its sockets on this machine.
    @ivar environ: the environment of the engine's command.
    """

    tongue: EngineDialect
    name: str
    extra: Sequence[str]
    first: Callable[[], int]
    folder: Path
    environ: Mapping[bytes, bytes]

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        # Engines take a variable given by name only from their own environment, newlines
        # included.  All names are the keeper's, so none affects the engine itself.
        names = [os.fsdecode(name) for name in env]
        tmux = ["tmux", "-u", "-S", str(socket_path), *arguments]
        argv = self.tongue.exec_command(self.name, tmux, passed_variables=names, extra=self.extra)
        return ChildSpec(argv=argv, env={**self.environ, **env})

    async def wait_until_ready(self) -> None:
        """Do nothing: the engine is on this machine."""

    def request_connection(self) -> None:
        """Do nothing: the container is always reachable."""

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        return procfs.probe_server(self.folder / socket_path.name)

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        return procfs.hold_inner_process(self.first(), pid)

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        path = self.folder / socket_path.name
        return await hold_listening_process(
            _MachinePidTransport(self), lambda: procfs.find_listener(path)
        )


@frozen
class _MachinePidTransport:
    """Transport that takes process numbers of this machine, as the kernel reports them for a
    socket's peer.
    """

    transport: ContainerTransport

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        return self.transport.build_child(socket_path, arguments, env)

    async def wait_until_ready(self) -> None:
        await self.transport.wait_until_ready()

    def request_connection(self) -> None:
        self.transport.request_connection()

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        return await self.transport.check_reachability(socket_path)

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        return procfs.hold_outer_process(pid, self.transport.first())

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        return await self.transport.acquire_server(socket_path)


class ContainerSockets(SocketFolder):
    """Sockets of a container, in a folder of this machine that is mounted inside.

    @param path: that folder.
    @param owner: user and group of the processes inside.
    """

    def __init__(self, path: Path, owner: tuple[int, int]) -> None:
        self.path = path
        self._owner = owner

    def get_socket_path(self, session_id: str) -> Path:
        return Path(SOCKETS) / super().get_socket_path(session_id).name

    async def prepare_folder(self) -> None:
        if not self.path.is_dir():
            raise MuxError(f"{self.path} is missing: recreate the container")

    async def remove_socket(self, session_id: str) -> None:
        path = self.path / self.get_socket_path(session_id).name
        try:
            remove_entry(path)
            remove_entry(path.with_suffix(".preface"))
        except OSError as error:
            raise MuxError(f"{path.name} cannot be removed: {error.strerror}") from error

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        inner = self.get_socket_path(session_id).with_suffix(".preface")
        _write_new(self.path / inner.name, data, self._owner)
        return inner

    async def find_session_ids(self) -> frozenset[str]:
        with suppress(OSError):
            return find_sockets(self.path)
        return frozenset()


def _write_new(path: Path, data: bytes, owner: tuple[int, int]) -> None:
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as file:
        os.fchown(file.fileno(), *owner)
        file.write(data)
