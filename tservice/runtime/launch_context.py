"""Data that is known when the program is launched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tservice.core.config.model import Config
from tservice.core.logs.redact import SecretRedactor
from tservice.core.net.endpoints import ListenAddress
from tservice.core.process.child import ChildRunner, ChildTools


@frozen(kw_only=True)
class LaunchContext:
    """Data that is known before the data folder is locked.

    @ivar reactor: the reactor: clock, process starter and network.
    @ivar config: the operator's configuration.
    @ivar addresses: the listening endpoints.
    @ivar warnings: messages for the operator about the configuration.
    @ivar environ: the service's environment, without its secrets.
    @ivar home: the home folder of the service's user.
    @ivar redactor: removes secrets from log lines.
    @ivar child_tools: programs that tie child processes to this process and change their user.
    """

    reactor: Any
    config: Config
    environ: Mapping[str, str]
    home: Path
    redactor: SecretRedactor
    addresses: tuple[ListenAddress, ...] = ()
    warnings: tuple[str, ...] = ()
    child_tools: ChildTools = field(factory=ChildTools)

    def make_child_runner(self) -> ChildRunner:
        """Return a starter of child processes for one feature, which stops it."""
        return ChildRunner(self.reactor, self.reactor, self.child_tools)
