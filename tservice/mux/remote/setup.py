"""Setups of tmux servers on remote hosts. The service installs nothing on the remote host."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from tservice.core.locations.location import Location
from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.remote import remote_programs
from tservice.mux.remote.attached_session import AttachedSetup
from tservice.mux.remote.runner import RemoteEnd, RemoteError
from tservice.mux.remote.transport import RemoteTransport, build_remote_child
from tservice.mux.tmux.setup import ServerSetup, report_no_problem
from tservice.mux.tmux.sockets import LOOKED_AT, SESSION_ID
from tservice.mux.transport import ChildSpec


@frozen
class RemoteSockets:
    """Sockets in tmux's folder on the remote host. The last session removes the folder."""

    remote: RemoteEnd

    async def prepare_folder(self) -> None:
        """Do nothing, because the first server creates the folder."""

    def get_socket_path(self, session_id: str) -> Path:
        if not SESSION_ID.fullmatch(session_id):
            raise ValueError(f"not a session id: {session_id!r}")
        return Path(remote_programs.format_server_name(session_id))

    async def remove_socket(self, session_id: str) -> None:
        try:
            await self.remote.run_program(
                remote_programs.build_cleanup_command(
                    remote_programs.format_server_name(session_id)
                )
            )
        except RemoteError as error:
            raise MuxError(f"the files of {session_id} cannot be removed: {error}") from error

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        program = remote_programs.build_preface_command(
            remote_programs.format_server_name(session_id)
        )
        try:
            answer = await self.remote.run_program(program, data)
        except RemoteError as error:
            raise OSError(str(error)) from error
        if answer.status != 0:
            raise OSError(answer.errors)
        return Path(os.fsdecode(answer.out))

    async def find_session_ids(self) -> frozenset[str]:
        try:
            answer = await self.remote.run_program(remote_programs.FOUND)
        except RemoteError:
            return frozenset()
        names = answer.out.decode("utf-8", "replace").splitlines()
        ids = (name.removeprefix(remote_programs.PREFIX) for name in names[:LOOKED_AT])
        return frozenset(each for each in ids if SESSION_ID.fullmatch(each))


@frozen(kw_only=True)
class RemoteSetup:
    """Setup for the tmux servers of one remote location."""

    remote: RemoteEnd
    is_foreign: bool = True
    refuses_duplicates: bool = True
    find_trouble: Callable[[], str | None] = report_no_problem
    is_owned: bool = True
    start_context: Callable[[], AbstractContextManager[None]] = nullcontext
    transport: RemoteTransport = field(init=False)
    sockets: RemoteSockets = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "transport", RemoteTransport(self.remote))
        object.__setattr__(self, "sockets", RemoteSockets(self.remote))

    def build_start_child(
        self, socket_path: Path, spec: PaneSpec, token: bytes, preface: bytes
    ) -> ChildSpec:
        return build_remote_child(
            self.remote, remote_programs.build_start_command(socket_path.name, spec, token, preface)
        )


class RemoteEndRegistry(Protocol):
    """Registry of remote locations of one kind, with the L{RemoteEnd} that runs programs there."""

    def get_remote_end(self, place: Location) -> RemoteEnd:
        """Return the remote end of the location C{place}.

        @raise MuxError: no remote end exists for that location.
        """

    def list_remote_ends(self) -> Sequence[RemoteEnd]:
        """Return all known remote ends."""


@frozen
class RemoteSetups:
    """Setups for all remote locations of one kind, as an argument of
    L{tservice.mux.build.build_mux}.
    """

    remotes: RemoteEndRegistry

    async def get_setup(self, place: Location) -> ServerSetup:
        far = self.remotes.get_remote_end(place)
        if place.id.tmux_session is not None:
            return AttachedSetup(remote=far, name=place.id.tmux_session)
        return RemoteSetup(remote=far)

    async def find_session_ids(self) -> frozenset[str]:
        # A closed connection fails immediately.
        names: frozenset[str] = frozenset()
        for far in self.remotes.list_remote_ends():
            names |= await RemoteSockets(far).find_session_ids()
        return names
