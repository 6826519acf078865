"""Stand-ins for what the CLI registry is handed."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twisted.internet.error import ProcessDone, ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IReactorProcess
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.clis.interfaces import LaunchRequest, PaneVariables
from tservice.clis.model import CliEntry, parse_entry
from tservice.core.locations.location import Location
from tservice.settings.interfaces import ISettings, SettingsObserver
from tservice.settings.model import Settings, parse_stored_settings

PANE = PaneVariables(
    session_id="s-1", api_url="http://127.0.0.1:1", hook_secret_file="/d/hook-secret"
)


def make_entry(**fields: object) -> CliEntry:
    """A small valid entry with C{fields} (camelCase) put over it."""
    return parse_entry(
        {"id": "x", "label": "X", "shortBadge": "X", "binaries": ["x"], "argv": ["x"], **fields}
    )


def launch_request(
    mode: str, place: Location, *, granted: bool = True, **fields: Any
) -> LaunchRequest:
    """A launch of C{mode} in C{place}."""
    return LaunchRequest(mode=mode, pane=PANE, place=place, granted=granted, **fields)


def make_program(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    """An executable file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@implementer(ISettings)
class FakeSettings:
    """Settings that a test sets, by their names on the wire."""

    def __init__(self, **data: object) -> None:
        self.settings = parse_stored_settings(data)[0]

    def get(self) -> Settings:
        return self.settings

    def add_observer(self, observer: SettingsObserver) -> Callable[[], None]:
        raise NotImplementedError("nothing in this feature observes")


class FakeTransport:
    """A process that a test ends by hand; exit and end come in the order of real Twisted."""

    def __init__(self, protocol: ProcessProtocol, pid: int) -> None:
        self.protocol = protocol
        self.pid: int | None = pid
        self.stdin_closed = False
        self.pipes_open = True
        self.signals: list[int] = []
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def closeStdin(self) -> None:
        self.stdin_closed = True

    def signalProcess(self, number: int) -> None:
        if self.pid is None:
            raise ProcessExitedAlready
        self.signals.append(number)

    def loseConnection(self) -> None:
        self.close_pipes()

    def exit(self, status: int | None = 0, signal: int | None = None) -> None:
        """The process is over; whoever inherited its pipes may go on."""
        self.pid = None
        self._reason = Failure(
            ProcessDone(0) if not status and signal is None else ProcessTerminated(status, signal)
        )
        self.protocol.processExited(self._reason)

    def close_pipes(self) -> None:
        """Nobody has the pipes any more."""
        if self.pipes_open and self.pid is None:
            self.pipes_open = False
            self.protocol.processEnded(self._reason)

    def finish(self, status: int | None = 0, signal: int | None = None) -> None:
        """Exit and close in one."""
        self.exit(status, signal)
        self.close_pipes()


@implementer(IReactorProcess)
class CliFakeProcesses:
    """Spawns L{FakeTransport}s."""

    def __init__(self) -> None:
        self.spawned: list[FakeTransport] = []
        self.calls: list[dict[str, Any]] = []
        self.error: OSError | None = None

    def spawnProcess(
        self,
        processProtocol: Any,
        executable: Any,
        args: Any = (),
        env: Mapping[Any, Any] | None = None,
        path: Any = None,
        uid: Any = None,
        gid: Any = None,
        usePTY: Any = 0,
        childFDs: Any = None,
    ) -> Any:
        if self.error is not None:
            raise self.error
        self.calls.append({"args": args, "env": env, "path": path})
        transport = FakeTransport(processProtocol, 4000 + len(self.spawned))
        self.spawned.append(transport)
        processProtocol.makeConnection(transport)
        return transport
