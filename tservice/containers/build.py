"""Containers, put together."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from attrs import frozen

from tservice.containers.boxes import Boxes
from tservice.containers.child import Runner
from tservice.containers.folders import Folders
from tservice.containers.hosts import Hosts, environment
from tservice.containers.images import CONTAINERFILE, Images
from tservice.containers.place import NOWHERE, ContainerPlaces
from tservice.containers.routes import ContainerRoutes
from tservice.containers.service import ContainerService
from tservice.containers.setups import ContainerSetups
from tservice.containers.store import ContainerStore
from tservice.containers.watch import Watch
from tservice.core.identity import Identity
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
    own = (os.geteuid(), os.getegid())
    environ = environment(ground.environ)
    store = ContainerStore(ground.database, lambda: ground.random(8).hex())
    runner = Runner(ground.reactor, ground.reactor, environ)
    hosts = Hosts(store, runner, ground.programs.find)
    folders = Folders(ground.config.data_dir / "containers")
    keeper = built_keeper(sys.executable)
    users = ground.os_users.users

    def act(owner: tuple[int, int], work: Callable[[], object]) -> object:
        user = OsUser(
            name="agent", uid=owner[0], gid=owner[1], groups=(owner[1],), home=NOWHERE, shell=""
        )
        return users.act(None if owner[0] == own[0] else user, work)

    images = Images(
        clock=ground.reactor,
        processes=ground.reactor,
        environ=environ,
        hub=ground.hub,
        folders=folders,
        containerfile=CONTAINERFILE,
    )
    boxes = Boxes(
        clock=ground.reactor,
        store=store,
        hosts=hosts,
        images=images,
        folders=folders,
        files=ground.doors.files,
        act=act,
        library=[CONFIGURATION, *([] if keeper is None else [keeper])],
        home=ground.home,
        suffix=lambda: ground.random(3).hex(),
    )
    service = ContainerService(
        store=store, hosts=hosts, images=images, boxes=boxes, runner=runner, sessions=sessions
    )
    watch = Watch(
        clock=ground.reactor,
        processes=ground.reactor,
        environ=environ,
        hub=ground.hub,
        store=store,
        hosts=hosts,
        boxes=boxes,
        sessions=sessions,
    )
    ground.places.join(PlaceKind.CONTAINER, ContainerPlaces(boxes=boxes, users=users, own=own))
    setups = ContainerSetups(
        boxes=boxes, hosts=hosts, store=store, folders=folders, keeper=keeper, environ=environ
    )

    def owner_of(caller: Identity) -> str:
        return caller.username if ground.config.multiuser else ""

    def close() -> object:
        watch.stop()
        return service.stop()

    return Feature(
        name="containers",
        service=Containers(service=service, setups={PlaceKind.CONTAINER: setups}),
        operations=ContainerRoutes(service, owner_of).operations(),
        start=watch.start,
        close=close,
    )
