"""What every part is handed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tservice.core.config.model import Config
from tservice.core.events import EventHub
from tservice.core.logs.redact import Redactor
from tservice.core.net.endpoints import ListenAddress
from tservice.tap.osusers import OsUserParts, wire_os_users


@frozen(kw_only=True)
class Base:
    """What everything stands on.

    @ivar environ: the service's own environment, without its secrets.
    """

    reactor: Any
    config: Config
    addresses: tuple[ListenAddress, ...]
    warnings: tuple[str, ...]
    environ: Mapping[str, str]
    home: Path
    redactor: Redactor
    hub: EventHub = field(factory=EventHub)
    os_users: OsUserParts = field(init=False)

    @os_users.default
    def _wire_os_users(self) -> OsUserParts:
        return wire_os_users(self.config.data_dir, self.environ, self.redactor.register)
