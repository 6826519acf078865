"""Construction of the remote hosts feature."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from tservice.core.files import write_private
from tservice.core.places.location import LocationId, LocationKind
from tservice.core.process.parent_death import find_parent_death_prefix
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.hosts.alarm import Alarm, PortProbe
from tservice.hosts.argv import Ssh, configuration
from tservice.hosts.book import HostBook
from tservice.hosts.file import host_file
from tservice.hosts.keys import KnownHosts
from tservice.hosts.links import FarsOfHosts, Links
from tservice.hosts.model import RemoteHost
from tservice.hosts.places import RemotePlaces
from tservice.hosts.routes import HostRoutes
from tservice.hosts.service import HostService
from tservice.hosts.told import Told
from tservice.hosts.waking import Waker
from tservice.mux.far.setup import RemoteSetups
from tservice.mux.tmux.setup import ServerSetups
from tservice.sessions.interfaces import ISessions

LONGEST_FOLDER = 45
"""Largest path of the sockets' folder in bytes: a socket's path has 107, of which ssh uses 17 while
it creates one, in addition to an id of 40.
"""


@frozen(kw_only=True)
class Hosts:
    """Interface of the feature for other features.

    @ivar setups: how panes run on remote hosts.
    """

    service: HostService
    setups: dict[LocationKind, ServerSetups]


def build_hosts(ground: Ground, *, sessions: Callable[[], ISessions]) -> Feature[Hosts]:
    """Build the feature; the hosts are read now, and a stop ends every connection.

    @param sessions: called only once a session is on a host.
    """
    data = ground.config.data_dir
    folder = _folder(data)
    book, keys = HostBook(host_file(data), ground.doors.files), KnownHosts(data)
    book.load()
    ssh = _ssh(ground, folder)
    write_private(ssh.configuration, configuration(keys.path))
    named = ("PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "LANG")
    env = {name: ground.environ[name] for name in named if name in ground.environ}

    def told(host: RemoteHost) -> Told:
        return Told(ground.reactor, ground.hub, sessions, host.id)

    alarm = Alarm(ground.reactor, ground.reactor, ground.reactor, env)
    answers = PortProbe(ground.reactor)

    links = Links(
        clock=ground.reactor,
        processes=ground.reactor,
        ssh=ssh,
        env=env,
        find=book.find,
        by_itself=lambda: ground.settings.get().remote_auto_reconnect,
        waker=lambda host, way: Waker(ground.reactor, host, way, alarm, answers, told(host)),
        made=lambda link: link.connection.listen(told(link.host)),
    )
    service = HostService(
        clock=ground.reactor,
        processes=ground.reactor,
        threads=ground.doors.files,
        book=book,
        keys=keys,
        ssh=ssh,
        env=env,
        links=links,
        used=lambda name: ground.places.find_usage(LocationId(kind=LocationKind.REMOTE, name=name)),
    )
    links.explain = service.explain
    places = RemotePlaces(links)
    ground.places.register_provider(LocationKind.REMOTE, places, way=places)

    def close() -> None:
        links.close()
        shutil.rmtree(folder, ignore_errors=True)

    return Feature(
        name="remote hosts",
        service=Hosts(
            service=service, setups={LocationKind.REMOTE: RemoteSetups(FarsOfHosts(links))}
        ),
        operations=HostRoutes(service, lambda name: sessions().get(name).location_id).operations(),
        close=close,
    )


def _ssh(ground: Ground, folder: Path) -> Ssh:
    program = shutil.which("ssh", path=ground.environ.get("PATH")) or "/usr/bin/ssh"
    return Ssh(
        program=program,
        configuration=folder / "config",
        sockets=folder,
        tie=find_parent_death_prefix(ground.environ),
    )


def _folder(data: Path) -> Path:
    """Return a folder of mode 0700 for this process, without files of an earlier one."""
    folder = (data / "ssh").absolute()
    if len(os.fsencode(folder)) > LONGEST_FOLDER:
        return Path(tempfile.mkdtemp(prefix="ts-", dir="/tmp"))
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return folder
