"""Transport to tmux in a container.

Commands run by the engine's C{exec}.  Processes are watched through the kernel of this machine.
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
from tservice.mux.tmux.sockets import SocketFolder, find_sockets, remove_file_or_rename_folder
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability

SOCKETS = f"{SERVICE_FOLDER}/s"
"""Folder inside the container with the sockets of tmux servers."""
LIBRARY = f"{SERVICE_FOLDER}/lib"
"""Folder inside the container with the programs that start a tmux server."""


@frozen(kw_only=True)
class ContainerTransport:
    """Transport to the tmux servers of one container.

    @ivar first: returns the process id, on this machine, of the container's main process; 0 if it
        does not run.
    @ivar folder: folder on this machine with the container's sockets.
    @ivar environ: environment of the engine commands.
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
        """Do nothing: the engine is on this machine, so no connection is needed."""

    def request_connection(self) -> None:
        """Do nothing: no connection is needed."""

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        return procfs.probe_server(self.folder / socket_path.name)

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        return procfs.open_process_by_container_pid(self.first(), pid)

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        path = self.folder / socket_path.name
        return await hold_listening_process(
            _MachinePidTransport(self), lambda: procfs.find_listener(path)
        )


@frozen
class _MachinePidTransport:
    """Transport that expects process ids of this machine instead of the container's.

    The kernel reports such a process id for the peer of a socket.
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
        return procfs.open_process_by_host_pid(pid, self.transport.first())

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        return await self.transport.acquire_server(socket_path)


class ContainerSockets(SocketFolder):
    """Sockets of a container, in a folder of this machine that is mounted in the container.

    @param path: path of that folder on this machine.
    @param owner: user id and group id of the container's processes.
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
            remove_file_or_rename_folder(path)
            remove_file_or_rename_folder(path.with_suffix(".preface"))
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
