"""Containers, put together."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from tservice.containers.boxes import Boxes
from tservice.containers.child import Runner
from tservice.containers.folders import Folders
from tservice.containers.hosts import Hosts, environment
from tservice.containers.images import Images
from tservice.containers.place import NOWHERE, ContainerPlaces
from tservice.containers.routes import ContainerRoutes
from tservice.containers.service import ContainerService
from tservice.containers.setups import ContainerSetups
from tservice.containers.store import ContainerStore
from tservice.containers.watch import Watch
from tservice.core.places.place import PlaceKind
from tservice.core.users.osuser import OsUser
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.mux.tmux.built import built_keeper
from tservice.mux.tmux.setup import CONFIGURATION, Setups
from tservice.sessions.interfaces import ISessions


@frozen(kw_only=True)
class Containers:
    """What the others are handed.

    @ivar setups: how tmux runs in containers.
    """

    service: ContainerService
    setups: dict[PlaceKind, Setups]


def build_containers(ground: Ground, *, sessions: Callable[[], ISessions]) -> Feature[Containers]:
    """Containers as places; a stop ends the engines' commands, and containers run on.

    @param sessions: not asked before the start: they are made after the containers.
    """
    environ = environment(ground.environ)
    store = ContainerStore(ground.database, lambda: ground.random(8).hex())
    runner = Runner(ground.reactor, ground.reactor, environ)
    hosts = Hosts(store, runner, ground.programs.find)
    folders = Folders(ground.config.data_dir / "containers")
    keeper = built_keeper(sys.executable)
    spoken: dict[str, Any] = {
        "clock": ground.reactor, "processes": ground.reactor, "environ": environ, "hub": ground.hub
    }  # fmt: skip
    images = Images(**spoken, folders=folders)
    library = [CONFIGURATION, *([] if keeper is None else [keeper])]
    boxes = build_boxes(
        ground, store=store, hosts=hosts, images=images, folders=folders, library=library
    )
    service = ContainerService(
        store=store, hosts=hosts, images=images, boxes=boxes, runner=runner, sessions=sessions
    )
    watch = Watch(**spoken, store=store, hosts=hosts, boxes=boxes, sessions=sessions)
    places = ContainerPlaces(boxes=boxes, users=ground.os_users.users, own=_own())
    ground.places.join(PlaceKind.CONTAINER, places)
    setups = ContainerSetups(
        boxes=boxes, hosts=hosts, store=store, folders=folders, keeper=keeper, environ=environ
    )

    def close() -> object:
        watch.stop()
        return service.stop()

    return Feature(
        name="containers",
        service=Containers(service=service, setups={PlaceKind.CONTAINER: setups}),
        operations=ContainerRoutes(service, ground.config.multiuser).operations(),
        start=watch.start,
        close=close,
    )


def build_boxes(
    ground: Ground,
    *,
    store: ContainerStore,
    hosts: Hosts,
    images: Images,
    folders: Folders,
    library: Sequence[Path],
) -> Boxes:
    """The containers themselves."""
    users = ground.os_users.users

    def act(owner: tuple[int, int], work: Callable[[], object]) -> object:
        uid, gid = owner
        user = OsUser(name="agent", uid=uid, gid=gid, groups=(gid,), home=NOWHERE, shell="")
        return users.act(None if uid == _own()[0] else user, work)

    return Boxes(
        clock=ground.reactor,
        store=store,
        hosts=hosts,
        images=images,
        folders=folders,
        files=ground.doors.files,
        act=act,
        library=library,
        home=ground.home,
        suffix=lambda: ground.random(3).hex(),
    )


def _own() -> tuple[int, int]:
    return os.geteuid(), os.getegid()
