"""The parts that the features stand on: store, CLIs, panes."""

from __future__ import annotations

import secrets
import shutil
import sys
from pathlib import Path

from twisted.internet.defer import Deferred

from tservice.clis.build import Clis, build_clis
from tservice.core.doors.reach import IReach, Reach
from tservice.core.doors.resolving import door_resolver
from tservice.core.doors.threads import Doors
from tservice.core.errors import StartError
from tservice.core.stack import Closing, ServiceStack
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import LocalTransport
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.store.errors import StoreError
from tservice.tap.base import Base


def open_database(base: Base, stack: ServiceStack) -> Database:
    """The store, closed after everything that writes to it.

    @raise StartError: it is damaged, or of a newer version.
    """
    try:
        database = Database.open(base.config.data_dir / "tservice.db", clock=base.reactor)
    except StoreError as error:
        raise StartError(str(error)) from error
    Closing("store", database.close).setServiceParent(stack)
    return database


def wire_doors(base: Base, stack: ServiceStack) -> Doors:
    """The threads; names of hosts and users are looked up in theirs from now on."""
    doors = Doors(base.reactor)
    doors.setServiceParent(stack)
    base.reactor.installNameResolver(door_resolver(base.reactor, doors.names))
    base.os_users.directory.use(doors.names)
    return doors


def wire_reach(base: Base, doors: Doors) -> Reach:
    """Asks whether what users name answers, and what the service looks into for each of them."""
    programs = base.environ.get("PATH", "").split(":")
    own = (base.home, base.home / ".local/bin", base.home / ".npm-global/bin")
    folders = (*programs, *map(str, own), str(base.config.cases_dir))
    return Reach(base.os_users.users, doors.files, folders)


def wire_clis(base: Base, settings: SettingsService, reach: IReach, stack: ServiceStack) -> Clis:
    """Which CLIs there are; a stop ends the installs that run."""
    clis = build_clis(
        config=base.config,
        clock=base.reactor,
        processes=base.reactor,
        environ=base.environ,
        home=base.home,
        settings=settings,
        hub=base.hub,
        os_users=base.os_users.users,
        reach=reach,
    )
    Closing("installs", clis.service.stop).setServiceParent(stack)
    return clis


def wire_mux(base: Base, stack: ServiceStack) -> TmuxMultiplexer:
    """Where panes live; a stop lets go of them.

    @raise StartError: there is no tmux.
    """
    tmux = shutil.which("tmux", path=base.environ.get("PATH"))
    if tmux is None:
        raise StartError("tmux is missing: install tmux 3.2 or later")
    runtime = base.environ.get("XDG_RUNTIME_DIR")
    mux = TmuxMultiplexer(
        base.reactor,
        base.reactor,
        LocalTransport(tmux, shutil.which("setpriv", path=base.environ.get("PATH"))),
        SocketFolder(base.config.data_dir, Path(runtime) if runtime else None),
        token=lambda: secrets.token_hex(8),
        python=sys.executable,
        capacity=base.config.output_ring,
        others=base.os_users.quarters(tmux),
    )
    Closing("panes", lambda: Deferred.fromCoroutine(mux.close())).setServiceParent(stack)
    return mux
