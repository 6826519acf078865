"""Putting the feature together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.clis.guests import Guests
from tservice.clis.install import Installer
from tservice.clis.launcher import CliRegistry
from tservice.clis.lookup import BinaryLookup
from tservice.clis.ondisk import FILE_NAME
from tservice.clis.service import CliService
from tservice.clis.stock import stock_entries
from tservice.core.config.model import Config
from tservice.core.doors.reach import IReach
from tservice.core.events import EventHub
from tservice.core.users.osuser import OsUsers
from tservice.settings.interfaces import ISettings


@frozen(kw_only=True)
class Clis:
    """The parts that others use: C{registry} as L{ICliRegistry}, C{service} for the routes.

    C{service.stop} belongs to the end of the program.
    """

    registry: CliRegistry
    service: CliService
    lookup: BinaryLookup


def build_clis(
    *,
    config: Config,
    clock: IReactorTime,
    processes: IReactorProcess,
    environ: Mapping[str, str],
    home: Path,
    settings: ISettings,
    hub: EventHub,
    os_users: OsUsers | None = None,
    reach: IReach | None = None,
) -> Clis:
    """Make the registry, read C{clis.json} and take it into use.

    @param environ: what the service was started with.
    @param reach: asks whether the folders of C{PATH} answer.
    @raise ServiceError: a packaged entry is broken.
    """
    lookup = BinaryLookup(clock, environ, home)
    registry = CliRegistry(
        settings=settings,
        lookup=lookup,
        environ=environ,
        pane_env=config.pane_env,
        root=os.geteuid() == 0,
        guests=None if os_users is None else Guests(clock, environ, os_users),
    )
    installer = Installer(clock=clock, processes=processes, environ=environ, home=home, hub=hub)
    service = CliService(
        path=config.data_dir / FILE_NAME,
        stock=stock_entries(),
        registry=registry,
        lookup=lookup,
        installer=installer,
        settings=settings,
        hub=hub,
        reach=reach,
    )
    service.load()
    return Clis(registry=registry, service=service, lookup=lookup)
