"""Assembly of the containers feature."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IProtocolFactory

from tservice.access.authenticators import ContainerAuthenticator
from tservice.access.hook_secret import derive_container_secret, load_hook_secret
from tservice.containers.bridge_probe import BridgeProbe
from tservice.containers.command_runner import EngineProcessRunner
from tservice.containers.folders import ContainerFolders
from tservice.containers.hook_bridge import HookBridge, Listen
from tservice.containers.host_registry import ContainerHostRegistry, engine_environment
from tservice.containers.images import ImageBuilder
from tservice.containers.life.watcher import ContainerWatcher
from tservice.containers.location import NO_HOME, ContainerLocationProvider
from tservice.containers.registry import ContainerRegistry
from tservice.containers.routes import ContainerRoutes
from tservice.containers.service import ContainerService
from tservice.containers.store import ContainerStore
from tservice.containers.tmux_setups import ContainerSetups
from tservice.core.callers.authentication import IFailureCounter
from tservice.core.locations.location import LocationKind
from tservice.core.users.os_users import OsUser
from tservice.http.bridge.gate import BridgeGate, NoPages, NoUpgrades, is_hook_operation
from tservice.http.kernel import HttpKernel
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.http.site import HttpSite
from tservice.mux.tmux.compiled_keeper import find_compiled_keeper
from tservice.mux.tmux.setup import CONFIGURATION, ServerSetups
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions

MAX_CONNECTIONS = 64
"""Maximum connections to the hook listener.

They use file descriptors that panes need, and each hook is short.
"""


@frozen(kw_only=True)
class ContainerServices:
    """Parts of this feature that other features use.

    @ivar bridge: listens for hooks from containers.
    @ivar reach: tests from inside containers that they can reach the hook listener.
    @ivar setups: describes how tmux runs in containers.
    @ivar watch: follows the engines' events.
    """

    service: ContainerService
    bridge: HookBridge
    reach: BridgeProbe
    setups: dict[LocationKind, ServerSetups]
    watch: ContainerWatcher


def build_containers(
    ground: Runtime, *, sessions: Callable[[], ISessions]
) -> FeatureRegistration[ContainerServices]:
    """Build the feature that runs sessions in containers.

    Stopping the feature kills its engine commands.  Containers keep running.

    @param sessions: returns the sessions.  It is not called before the start, because sessions are
        built after the containers.
    """
    environ = engine_environment(ground.environ)
    store = ContainerStore(ground.database, lambda: ground.random(8).hex())
    runner = EngineProcessRunner(ground.make_child_runner(), environ)
    hosts = ContainerHostRegistry(store, runner, ground.programs.find_program)
    folders = ContainerFolders(ground.config.data_dir / "containers")
    keeper = find_compiled_keeper(sys.executable)
    children = ground.make_child_runner()
    spoken: dict[str, Any] = {
        "clock": ground.reactor, "children": children, "environ": environ, "hub": ground.hub
    }  # fmt: skip
    images = ImageBuilder(**spoken, folders=folders)
    library = [CONFIGURATION, *([] if keeper is None else [keeper])]
    boxes = build_registry(
        ground, store=store, hosts=hosts, images=images, folders=folders, library=library
    )
    service = ContainerService(
        store=store, hosts=hosts, images=images, boxes=boxes, runner=runner, sessions=sessions
    )
    watch = ContainerWatcher(**spoken, store=store, hosts=hosts, boxes=boxes, sessions=sessions)
    bridge = HookBridge(
        ground.reactor, _make_tcp_listener(ground), store, enabled=ground.config.docker_bridge_hooks
    )
    places = ContainerLocationProvider(
        boxes=boxes, users=ground.os_users.users, own=_process_ids(), bridge=bridge,
        secret=lambda name: derive_container_secret(load_instance_secret(ground), name),
        environ=environ,
    )  # fmt: skip
    ground.locations.register_provider(LocationKind.CONTAINER, places)
    setups = ContainerSetups(
        boxes=boxes, hosts=hosts, store=store, folders=folders, keeper=keeper, environ=environ
    )

    def close() -> object:
        watch.stop()
        ending: list[Deferred[Any]] = [bridge.stop(), service.stop()]
        return DeferredList(ending, consumeErrors=True)

    return FeatureRegistration(
        name="containers",
        service=ContainerServices(
            service=service,
            bridge=bridge,
            setups={LocationKind.CONTAINER: setups},
            reach=BridgeProbe(clock=ground.reactor, store=store, hosts=hosts, bridge=bridge),
            watch=watch,
        ),
        operations=collect_operations(ContainerRoutes(service, ground.config.multiuser)),
        start=watch.start,
        close=close,
    )


def _make_tcp_listener(ground: Runtime) -> Listen:
    def listen_tcp(port: int, site: IProtocolFactory, address: str) -> Any:
        return ground.reactor.listenTCP(port, site, interface=address)

    return listen_tcp


def load_instance_secret(ground: Runtime) -> str:
    """Return the secret of this service from which each container's hook secret is derived."""
    return load_hook_secret(ground.config.data_dir, ground.random)


def build_bridge(
    ground: Runtime,
    boxes: ContainerServices,
    operations: Iterable[Operation],
    failures: IFailureCounter,
) -> FeatureRegistration[HookBridge]:
    """Build the listener for hooks from containers.

    The listener starts after the sessions.  From then on the engines' events are followed.

    @param operations: all operations; the listener serves those that are for hooks.
    """
    bridge = boxes.bridge
    hooks = [each for each in operations if is_hook_operation(each)]
    if bridge.enabled:
        gate = BridgeGate(
            ContainerAuthenticator(load_instance_secret(ground)),
            failures,
            frozenset(each.path for each in hooks),
        )
        kernel = HttpKernel(hooks, gate, NoPages(), NoUpgrades())
        bridge.set_site(HttpSite(kernel, ground.reactor, max_connections=MAX_CONNECTIONS))

    def start() -> None:
        boxes.watch.follow_engines()
        bridge.start()

    return FeatureRegistration(name="the bridge of containers", service=bridge, start=start)


def build_registry(
    ground: Runtime,
    *,
    store: ContainerStore,
    hosts: ContainerHostRegistry,
    images: ImageBuilder,
    folders: ContainerFolders,
    library: Sequence[Path],
) -> ContainerRegistry:
    """Build the registry of the containers of cases."""
    users = ground.os_users.users

    def act_as_owner(owner: tuple[int, int], work: Callable[[], object]) -> object:
        uid, gid = owner
        user = OsUser(name="agent", uid=uid, gid=gid, groups=(gid,), home=NO_HOME, shell="")
        return users.act_as_user(None if uid == _process_ids()[0] else user, work)

    return ContainerRegistry(
        clock=ground.reactor,
        store=store,
        hosts=hosts,
        images=images,
        folders=folders,
        files=ground.worker_pools.files,
        act=act_as_owner,
        library=library,
        home=ground.home,
        suffix=lambda: ground.random(3).hex(),
    )


def _process_ids() -> tuple[int, int]:
    return os.geteuid(), os.getegid()
