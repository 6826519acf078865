"""Installation of CLIs that come with the program. Output is published as events (protocol-clis).

At most one installation runs for each CLI.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.clis.command import OUTPUT_LIMIT, CliCommand, CommandResult
from tservice.clis.environments import remove_service_variables
from tservice.core.kernel.errors import (
    make_conflict_error,
    make_failure_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import (
    CliInstallFinished,
    CliInstallOutput,
    CliInstallPayload,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.timers import cancel_call
from tservice.core.process.child import ChildRunner
from tservice.core.values.payload import Payload

OUTPUT_INTERVAL = 0.1
"""Seconds for which output is collected before it is published as one event."""


NPM_PREFIX = ".local"
"""Folder below the home folder where npm installs programs without root rights (protocol-clis)."""


def _find_nothing(name: str) -> Path | None:
    """Return C{None}: no program is found."""
    return None


class InstallOutputFeed:
    """Collector that publishes the output of an installation as C{cli:installOutput} events.

    At most ten events are sent per second. If the output of one event exceeds C{OUTPUT_LIMIT}
    characters, the older part is dropped.
    """

    def __init__(self, clock: IReactorTime, publish: Callable[[str], None]) -> None:
        self._clock = clock
        self._tell = publish
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._timer: IDelayedCall | None = None

    def append(self, data: bytes) -> None:
        """Add output, which is published with the next event."""
        self._pending = (self._pending + self._decoder.decode(data))[-OUTPUT_LIMIT:]
        if self._timer is None:
            self._timer = self._clock.callLater(OUTPUT_INTERVAL, self.flush)

    def flush(self) -> None:
        """Publish the collected output now. Also called when the installation has ended."""
        cancel_call(self._timer)
        self._timer = None
        pending, self._pending = self._pending, ""
        if pending:
            self._tell(pending)


class Installer:
    """Runner of install commands. They continue when the client that requested them disconnects."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        children: ChildRunner,
        environ: Mapping[str, str],
        home: Path,
        hub: EventHub,
        path_of: Callable[[str], str],
        locate: Callable[[str], Path | None] = _find_nothing,
    ) -> None:
        """Create an installer.

        @param path_of: returns the value of C{PATH} for running a program.
        @param locate: finds the program of an entry by its id, without a cache.
        """
        self._path_of = path_of
        self._where = locate
        self._clock = clock
        self._children = children
        # The output is shown in a browser, not in a terminal.
        self._env = {**remove_service_variables(environ), "TERM": "dumb", "NO_COLOR": "1"}
        self._env["NPM_CONFIG_PREFIX"] = str(home / NPM_PREFIX)
        self._home = home
        self._hub = hub
        self._running: dict[str, CliCommand] = {}

    def require_not_running(self, name: str) -> None:
        """Fail if this CLI is already being installed.

        @raise ServiceError: 409 if an installation of C{name} runs.
        """
        if name in self._running:
            raise make_conflict_error(f"{name} is being installed already")

    def start(self, name: str, argv: tuple[str, ...]) -> CliCommand:
        """Start to install a CLI.

        @param name: id of the CLI.
        @param argv: command to run. The program is an absolute path.
        @raise ServiceError: 409 if the CLI is already being installed; 422 if the process could not
            be started.
        """
        self.require_not_running(name)
        feed = InstallOutputFeed(self._clock, lambda text: self._publish_output(name, text))
        self._publish(EventName.CLI_INSTALL_STARTED, CliInstallPayload(id=name))
        try:
            env = {**self._env, "PATH": self._path_of(argv[0])}
            command = CliCommand(
                self._children, argv, env, self._home, on_output=feed.append, is_guarded=True
            )
        except OSError as error:
            self._publish_end(name, ok=False, status=None)
            raise make_failure_error(
                f"the installation of {name} could not be started: {error.strerror}"
            ) from error
        self._running[name] = command
        command.wait_ended().addCallback(self._publish_result_at_end, name, feed).addErrback(
            lambda failure: self._log.failure(
                "error after the installation of {name}", failure, name=name
            )
        )
        return command

    async def cancel(self, name: str) -> None:
        """Terminate the installation of a CLI, and wait until its process has ended.

        @param name: id of the CLI.
        @raise ServiceError: 404 if no installation of this CLI runs.
        """
        command = self._running.get(name)
        if command is None:
            raise make_not_found_error(f"Installation of {name}")
        command.terminate()
        await command.wait_ended()

    def stop_all(self) -> Deferred[None]:
        """Terminate all installations. The Deferred fires when all processes have ended."""
        return self._children.stop()

    def _publish_result_at_end(
        self, ending: CommandResult, name: str, feed: InstallOutputFeed
    ) -> None:
        del self._running[name]
        feed.flush()
        ok = ending.status == 0 and not ending.was_terminated
        self._publish_end(name, ok=ok, status=ending.status)

    def _publish_output(self, name: str, text: str) -> None:
        self._publish(EventName.CLI_INSTALL_OUTPUT, CliInstallOutput(id=name, data=text))

    def _publish_end(self, name: str, *, ok: bool, status: int | None) -> None:
        path = self._where(name)
        told = CliInstallFinished(
            id=name, ok=ok, status=status, path=None if path is None else str(path)
        )
        self._publish(EventName.CLI_INSTALL_FINISHED, told)

    def _publish(self, name: EventName, payload: Payload) -> None:
        self._hub.publish(Event(name=name, payload=payload))
