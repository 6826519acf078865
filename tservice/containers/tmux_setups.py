"""Set-up of tmux servers in containers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from attrs import frozen

from tservice.containers.folders import ContainerFolders
from tservice.containers.host_registry import ContainerHostRegistry
from tservice.containers.registry import ContainerRegistry
from tservice.containers.store import ContainerStore
from tservice.containers.transport import LIBRARY, ContainerSockets, ContainerTransport
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.location import Location
from tservice.mux.interface import MuxError
from tservice.mux.terminfo import FALLBACK
from tservice.mux.tmux.setup import CONFIGURATION, LocalSetup


@frozen(kw_only=True)
class ContainerSetups:
    """Provider of tmux set-ups for containers; see L{tservice.mux.tmux.setup.ServerSetups}.

    @ivar keeper: the keeper program as an executable for any machine; C{None} if it was not built.
    @ivar environ: environment of the engine commands.
    """

    boxes: ContainerRegistry
    hosts: ContainerHostRegistry
    store: ContainerStore
    folders: ContainerFolders
    keeper: Path | None
    environ: Mapping[str, str]

    async def get_setup(self, place: Location) -> LocalSetup:
        case = self.store.find_by_container(place.id.part)
        if case is None:
            raise MuxError(f"{place.title} no longer belongs to a case")
        if self.keeper is None:
            raise MuxError(
                "containers need the keeper's program: install a C compiler and reinstall"
            )
        try:
            host = self.hosts.get(case.host_id)
            tongue = self.hosts.get_engine(host).dialect
            # Refreshes the first process's number and the sockets' owner.
            await self.boxes.inspect_container(case)
        except ServiceError as error:
            raise MuxError(error.message) from error
        known = self.boxes.find_last_state(case.container)
        folder = self.folders.socket_folder(case.container)
        transport = ContainerTransport(
            tongue=tongue,
            name=case.container,
            extra=host.exec_args,
            first=lambda: self.boxes.get_main_pid(case.container),
            folder=folder,
            environ={os.fsencode(name): os.fsencode(it) for name, it in self.environ.items()},
        )
        owner = (os.geteuid(), os.getegid()) if known is None else known.owner
        inside = None if known is None else known.inside
        library = PurePosixPath(LIBRARY)
        return LocalSetup(
            transport=transport,
            sockets=ContainerSockets(folder, owner),
            python="/usr/bin/python3",
            configuration=Path(library / CONFIGURATION.name),
            program=Path(library / self.keeper.name),
            is_foreign=True,
            find_trouble=lambda: self.boxes.find_start_obstacle(case.container),
            terminal=lambda: FALLBACK if inside is None else inside.terminal,
        )

    async def find_session_ids(self) -> frozenset[str]:
        names: frozenset[str] = frozenset()
        for case in self.store.list_cases():
            sockets = ContainerSockets(self.folders.socket_folder(case.container), (0, 0))
            names |= await sockets.find_session_ids()
        return names
