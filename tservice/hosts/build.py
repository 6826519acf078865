"""Construction of the remote hosts feature."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred

from tservice.core.disk.files import write_private_file
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.process.parent_death import make_parent_death_prefix
from tservice.hosts.host_events import HostEventPublisher
from tservice.hosts.host_file import open_host_file
from tservice.hosts.host_keys import KnownHostsFile
from tservice.hosts.host_links import HostLinks, HostRunners
from tservice.hosts.model import RemoteHost
from tservice.hosts.registry import HostRegistry
from tservice.hosts.remote_locations import RemoteLocations
from tservice.hosts.routes import HostRoutes
from tservice.hosts.service import HostService
from tservice.hosts.ssh_command import SshCommand, build_configuration
from tservice.hosts.wake_signals import HostWaker, PortProbe
from tservice.hosts.waking import HostWakeService
from tservice.http.operation_decorator import collect_operations
from tservice.mux.remote.setup import RemoteSetups
from tservice.mux.tmux.setup import ServerSetups
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions

LONGEST_FOLDER = 45
"""Maximum length in bytes of the path of the folder for control sockets. A socket's path may have
107 bytes. The id takes 40 of them, and ssh adds 17 while it creates the socket.
"""


@frozen(kw_only=True)
class HostsFeature:
    """Interface of the remote hosts for other features.

    @ivar setups: multiplexer setups by kind of location; they run panes on remote hosts.
    """

    service: HostService
    setups: dict[LocationKind, ServerSetups]


SSH_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "LANG")
"""Names of the environment variables that the service passes to its ssh processes."""


def build_hosts(
    ground: Runtime, *, sessions: Callable[[], ISessions]
) -> FeatureRegistration[HostsFeature]:
    """Read the stored hosts and build the feature; C{sessions} is called for sessions on hosts."""
    data = ground.config.data_dir
    folder = _prepare_folder(data)
    book, keys = HostRegistry(open_host_file(data), ground.worker_pools.files), KnownHostsFile(data)
    book.load()
    ssh = _make_ssh(ground, folder)
    write_private_file(ssh.configuration, build_configuration(keys.path))
    env = {name: ground.environ[name] for name in SSH_VARIABLES if name in ground.environ}

    def make_publisher(host: RemoteHost) -> HostEventPublisher:
        return HostEventPublisher(ground.reactor, ground.hub, sessions, host.id)

    children = ground.make_child_runner()
    alarm = HostWaker(children, ground.reactor, env)
    links = HostLinks(
        clock=ground.reactor,
        processes=ground.reactor,
        ssh=ssh,
        env=env,
        find=book.find_host,
        auto_reconnect=lambda: ground.settings.get().remote_auto_reconnect,
        waker=lambda host, way: HostWakeService(
            ground.reactor, host, way, alarm, PortProbe(ground.reactor), make_publisher(host)
        ),
        on_new_link=lambda link: link.connection.add_listener(make_publisher(link.host)),
    )
    service = HostService(
        clock=ground.reactor,
        children=children,
        threads=ground.worker_pools.files,
        registry=book,
        keys=keys,
        ssh=ssh,
        env=env,
        links=links,
        find_user=lambda name: ground.locations.find_usage(
            LocationId(kind=LocationKind.REMOTE, name=name)
        ),
    )  # fmt: skip
    links.explain_failure = service.explain_failure
    places = RemoteLocations(links)
    ground.locations.register_provider(LocationKind.REMOTE, places, way=places)

    async def close() -> None:
        links.close_all_links()
        await children.stop()
        shutil.rmtree(folder, ignore_errors=True)

    routes = HostRoutes(service, lambda name: sessions().get(name).location_id)
    return FeatureRegistration(
        name="remote hosts",
        service=HostsFeature(
            service=service, setups={LocationKind.REMOTE: RemoteSetups(HostRunners(links))}
        ),
        operations=collect_operations(routes),
        close=lambda: Deferred.fromCoroutine(close()),
    )


def _make_ssh(ground: Runtime, folder: Path) -> SshCommand:
    program = shutil.which("ssh", path=ground.environ.get("PATH")) or "/usr/bin/ssh"
    return SshCommand(
        program=program,
        configuration=folder / "config",
        sockets=folder,
        tie=make_parent_death_prefix(ground.child_tools.setpriv),
    )


def _prepare_folder(data: Path) -> Path:
    """Create a folder of mode 0700 for the sockets of this process, and remove files of an earlier
    process.
    """
    folder = (data / "ssh").absolute()
    if len(os.fsencode(folder)) > LONGEST_FOLDER:
        return Path(tempfile.mkdtemp(prefix="ts-", dir="/tmp"))
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return folder
