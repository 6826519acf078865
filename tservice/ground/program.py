"""What the program was started with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from tservice.core.config.model import Config
from tservice.core.logs.redact import Redactor
from tservice.core.net.endpoints import ListenAddress


@frozen(kw_only=True)
class Program:
    """What is known before the data folder is locked.

    @ivar reactor: keeps time, starts processes and makes connections.
    @ivar addresses: where to listen.
    @ivar warnings: what the operator is to read of the configuration.
    @ivar environ: the service's own environment, without its secrets.
    @ivar home: of the user that the service runs as.
    @ivar redactor: takes secrets out of log lines.
    """

    reactor: Any
    config: Config
    environ: Mapping[str, str]
    home: Path
    redactor: Redactor
    addresses: tuple[ListenAddress, ...] = ()
    warnings: tuple[str, ...] = ()
