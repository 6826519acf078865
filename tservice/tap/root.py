"""Root of the service tree, which starts the program or reports why the start failed."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.components import Componentized

from tservice.core.config.model import Config
from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.kernel.errors import StartError
from tservice.core.kernel.service_stack import ServiceStack
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.logs.twistd_logging import LogService
from tservice.core.net.listening import PortListener
from tservice.core.process.folder_lock import ADDRESS_NAME, FolderLock, write_addresses
from tservice.core.process.memory import freeze_live_objects
from tservice.runtime.launch_context import LaunchContext
from tservice.store.errors import StoreError

Assembler = Callable[[LaunchContext, ServiceStack], None]
"""Callable that adds all services that need the data folder to the stack."""


class RootService(ServiceStack):
    """Root of the service tree.

    Services that need the data folder are created once it is locked.
    """

    _log = Logger()

    def __init__(self, program: LaunchContext, logs: LogService, assemble: Assembler) -> None:
        super().__init__(program.reactor)
        self._program = program
        self._logs = logs
        self._assemble = assemble
        logs.setServiceParent(self)
        FolderLock(program.config.data_dir).setServiceParent(self)

    def setServiceParent(self, parent: Any) -> None:
        """Set the parent, C{twistd}'s application, and install the log observer in it."""
        if isinstance(parent, Componentized):
            self._logs.install_observer(parent)
        super().setServiceParent(parent)

    def startService(self) -> None:
        """Lock the data folder, assemble the program and start it.

        @raise StartError: the service cannot start; the text has already been written to stderr.
        """
        try:
            super().startService()
            self._assemble(self._program, self)
        except StartError as error:
            raise _report_failure(error, self._program.config) from None
        except Exception as error:
            self._log.failure("the service cannot be assembled")
            raise _report_failure(error, self._program.config) from error


class StartupService(Service):
    """Service that starts last: it reattaches to the panes, opens the ports, and logs the URLs."""

    _log = Logger()

    def __init__(
        self,
        program: LaunchContext,
        restore_sessions: Callable[[], Awaitable[None]],
        listener: PortListener,
        exit_with_failure: Callable[[], None],
    ) -> None:
        """@param restore_sessions: loads the sessions and reattaches to running panes.
        @param exit_with_failure: ends the program; called if C{restore_sessions} failed.
        """
        self._program, self._take_up = program, restore_sessions
        self._listener, self._give_up = listener, exit_with_failure
        self._work: Deferred[None] | None = None
        self._address_file = program.config.data_dir / ADDRESS_NAME

    def startService(self) -> None:
        super().startService()
        for warning in self._program.warnings:
            self._log.warn("{warning}", warning=warning)
        # A start that fails stops the reactor, which must run by then.
        self._program.reactor.callWhenRunning(self._begin_start)

    def stopService(self) -> None:
        super().stopService()
        if self._work is not None:
            self._work.cancel()
        self._address_file.unlink(missing_ok=True)

    def _begin_start(self) -> None:
        if self.running:
            self._work = spawn_logged(self._restore_and_open_ports(), self._log, "the start")

    async def _restore_and_open_ports(self) -> None:
        try:
            await self._take_up()
        except CancelledError:
            # The service was stopped before it had started.
            return
        except Exception as error:
            # Without its sessions the service must not answer: users would start them again.
            self._log.failure("the sessions could not be restored")
            _report_failure(error, self._program.config)
            self._give_up()
            return
        freeze_live_objects()
        self._listener.open()
        urls = self._listener.get_urls(self._program.config.base_path)
        self._write_addresses(urls)
        self._log.info("ready at {urls}", urls=", ".join(urls), event="ready")

    def _write_addresses(self, urls: Sequence[str]) -> None:
        """Write the URLs for other programs. On a full disk the service starts without them."""
        try:
            write_addresses(self._address_file, urls)
        except OSError as error:
            self._log.warn("{file}: {error}", file=self._address_file, error=error.strerror)


def _report_failure(error: Exception, config: Config) -> StartError:
    """Write the reason of a failed start to stderr, and return it as an error.

    For errors other than those of the disk, the text refers to the log, which has the details.
    """
    why = error if isinstance(error, StartError) else StartError(_failure_reason(error, config))
    # sys.stderr is already redirected to the log.
    print(why, file=sys.__stderr__, flush=True)
    return why


def _failure_reason(error: Exception, config: Config) -> str:
    if (found := find_disk_problem(error)) is not None:
        return f"cannot start: {found}: fix this for {config.data_dir}, then start again"
    if isinstance(error, sqlite3.Error | StoreError):
        path = config.data_dir / "tservice.db"
        return f"cannot start: database {path}: {error}; see the log for details"
    if isinstance(error, OSError) and isinstance(error.filename, str):
        return f"cannot start: {error.filename}: {error.strerror}; see the log for details"
    # Its text might hold a secret.
    return f"cannot start: {type(error).__name__}; see the log for details"
