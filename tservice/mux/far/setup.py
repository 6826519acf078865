"""Setups of tmux servers on the remote end. Nothing of the service is installed there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from tservice.core.places.location import Location
from tservice.mux.far import programs
from tservice.mux.far.attached import AttachedSetup
from tservice.mux.far.runner import FarError, IFar
from tservice.mux.far.transport import FarTransport, child_of
from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.tmux.setup import ISetup, no_trouble
from tservice.mux.tmux.sockets import LOOKED_AT, SESSION_ID
from tservice.mux.transport import Child


@frozen
class FarSockets:
    """Sockets in tmux's folder on the remote host. The last session removes the folder."""

    far: IFar

    async def prepare(self) -> None:
        """Do nothing: the first server creates the folder."""

    def socket(self, session_id: str) -> Path:
        if not SESSION_ID.fullmatch(session_id):
            raise ValueError(f"not a session id: {session_id!r}")
        return Path(programs.server_name(session_id))

    async def clear(self, session_id: str) -> None:
        try:
            await self.far.run(programs.clear(programs.server_name(session_id)))
        except FarError as error:
            raise MuxError(f"the files of {session_id} cannot be removed: {error}") from error

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        program = programs.put_preface(programs.server_name(session_id))
        try:
            answer = await self.far.run(program, data)
        except FarError as error:
            raise OSError(str(error)) from error
        if answer.status != 0:
            raise OSError(answer.errors)
        return Path(os.fsdecode(answer.out))

    async def found(self) -> frozenset[str]:
        try:
            answer = await self.far.run(programs.FOUND)
        except FarError:
            return frozenset()
        names = answer.out.decode("utf-8", "replace").splitlines()
        ids = (name.removeprefix(programs.PREFIX) for name in names[:LOOKED_AT])
        return frozenset(each for each in ids if SESSION_ID.fullmatch(each))


@frozen(kw_only=True)
class FarSetup:
    """Setup for the servers of one remote place."""

    far: IFar
    foreign: bool = True
    refuses: bool = True
    trouble: Callable[[], str | None] = no_trouble
    owned: bool = True
    apart: Callable[[], AbstractContextManager[None]] = nullcontext
    transport: FarTransport = field(init=False)
    sockets: FarSockets = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "transport", FarTransport(self.far))
        object.__setattr__(self, "sockets", FarSockets(self.far))

    def start(self, socket_path: Path, spec: PaneSpec, token: bytes, preface: bytes) -> Child:
        return child_of(self.far, programs.start(socket_path.name, spec, token, preface))


class IFars(Protocol):
    """Remote ends of all places of a kind."""

    def of(self, place: Location) -> IFar:
        """Return the remote end of C{place}.

        @raise MuxError: there is none.
        """

    def known(self) -> Sequence[IFar]:
        """Return all known remote ends."""


@frozen
class FarSetups:
    """Setups for all remote places of a kind; pass it to C{build_mux}."""

    fars: IFars

    async def of(self, place: Location) -> ISetup:
        far = self.fars.of(place)
        if place.id.tmux_session is not None:
            return AttachedSetup(far=far, name=place.id.tmux_session)
        return FarSetup(far=far)

    async def found(self) -> frozenset[str]:
        # A closed connection fails immediately.
        names: frozenset[str] = frozenset()
        for far in self.fars.known():
            names |= await FarSockets(far).found()
        return names
