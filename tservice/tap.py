"""C{twistd tservice}: the options, and how everything is put together.

The only importer of the reactor; imported by nobody but C{twistd}.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twisted.application.service import IService, Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python import usage
from twisted.python.components import Componentized

from tservice import __version__
from tservice.core.config import Config, settings
from tservice.core.configload import Loaded, load
from tservice.core.endpoints import parse_listen
from tservice.core.errors import StartError
from tservice.core.listening import Listener
from tservice.core.lock import FolderLock
from tservice.core.redact import Redactor
from tservice.core.stack import ServiceStack
from tservice.core.tasks import spawn
from tservice.core.twistdlog import LogService, target_of


class Options(usage.Options):
    """The command line after the word C{tservice}, merged with the other layers at its end.

    @ivar loaded: the configuration, once the options are parsed.
    """

    synopsis = "[tservice options]"
    longdesc = (
        "Each option is also a key of the YAML file (without the dashes) and a SERVICE_* "
        "variable. The password is no option: set SERVICE_PASSWORD or --password-file."
    )
    optFlags = [
        [form, None, text]
        for entry in settings()
        if entry.flag
        for form, text in ((entry.name, entry.help), (f"no-{entry.name}", f"Not {entry.name}."))
    ]
    optParameters = [
        ["config", None, None, "YAML file of settings (SERVICE_CONFIG)."],
        *(
            [entry.name, None, None, entry.help]
            for entry in settings()
            if entry.on_command_line and not entry.flag and entry.name != "listen"
        ),
    ]

    loaded: Loaded

    def __init__(self, environ: Mapping[str, str] = os.environ, home: Path | None = None) -> None:
        super().__init__()
        self._environ = environ
        self._home = home or Path.home()
        self._listen: list[str] = []

    def opt_listen(self, endpoint: str) -> None:
        """Where to listen: a Twisted endpoint (tcp, tcp6, ssl, unix); may be repeated."""
        self._listen.append(endpoint)

    def opt_version(self) -> None:
        """Print the version and exit."""
        print(f"tservice {__version__}")
        raise SystemExit(0)

    def parseOptions(self, options: Any = None) -> None:
        """@raise StartError: one line instead of the whole usage."""
        try:
            super().parseOptions(options)
        except usage.UsageError as error:
            raise StartError(f"{error} (see twistd tservice --help)") from None

    def parseArgs(self) -> None:
        """There are no words beside the options."""

    def postOptions(self) -> None:
        """Merge every layer (wire 26, Access).

        @raise StartError: a setting is wrong.
        """
        self.loaded = load(self._given(), self._environ, self._home)

    def _given(self) -> dict[str, object]:
        found: dict[str, object] = {"config": self["config"], "listen": self._listen or None}
        for entry in settings():
            if entry.flag:
                found[entry.name] = self._flag(entry.name)
            elif entry.name in self:
                found[entry.name] = self[entry.name]
        return found

    def _flag(self, name: str) -> bool | None:
        if self[name] and self[f"no-{name}"]:
            raise StartError(f"--{name} and --no-{name} are both given: use one of them")
        if self[name] or self[f"no-{name}"]:
            return bool(self[name])
        return None


class Root(ServiceStack):
    """The top of the tree: makes C{twistd} log through us, and knows how it all starts."""

    def __init__(self, clock: IReactorTime, logs: LogService) -> None:
        super().__init__(clock)
        self._logs = logs

    def setServiceParent(self, parent: Any) -> None:
        """C{twistd} asks its application, which is our parent, for a log observer."""
        if isinstance(parent, Componentized):
            self._logs.install(parent)
        super().setServiceParent(parent)

    def startService(self) -> None:
        """@raise StartError: the service cannot start; the line is on stderr by then."""
        try:
            super().startService()
        except StartError as error:
            # sys.stderr is the log by now.
            print(error, file=sys.__stderr__, flush=True)
            raise


class Startup(Service):
    """Topmost: takes up the panes, opens the doors, and says where they are."""

    _log = Logger()

    def __init__(self, listener: Listener, config: Config, warnings: Sequence[str]) -> None:
        self._listener = listener
        self._config = config
        self._warnings = warnings
        self._work: Deferred[None] | None = None

    def startService(self) -> None:
        super().startService()
        for warning in self._warnings:
            self._log.warn("{warning}", warning=warning)
        self._work = spawn(self._start(), self._log, "starting")

    def stopService(self) -> None:
        super().stopService()
        if self._work is not None:
            self._work.cancel()

    async def _start(self) -> None:
        self._listener.open()
        urls = ", ".join(self._listener.urls(self._config.base_path))
        self._log.info("ready at {urls}", urls=urls, event="ready")


def makeService(options: Options) -> IService:
    """The whole service for C{twistd}.

    @raise StartError: an endpoint is not understood, or would let strangers in.
    """
    from twisted.internet import reactor

    config, server = options.loaded.config, getattr(options, "parent", None)
    redactor = Redactor()
    if config.password is not None:
        redactor.register_login(config.username, config.password)
    logs = LogService(target_of(server), config, redactor, reactor.callFromThread)
    addresses = parse_listen(config)
    from twisted.web.server import Site
    from twisted.web.resource import Resource

    listener = Listener(reactor, addresses, Site(Resource()))
    root = Root(reactor, logs)
    for service in (
        logs,
        FolderLock(config.data_dir),
        listener,
        Startup(listener, config, options.loaded.warnings),
    ):
        service.setServiceParent(root)
    return root
