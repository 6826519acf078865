"""A tunnel whose process a test plays."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from tests.fakes.child_processes import FakeProcesses, FakeTransport
from tests.unit.clis.fakes import make_program
from tests.unit.tunnel import cloudflared_output
from tservice.core.callers.authentication import SignInRule
from tservice.core.kernel.events import Event, EventHub
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner
from tservice.core.workers.program_lookup import make_program_finder
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.tunnel.service import TunnelDependencies, TunnelService

LOCAL = "http://127.0.0.1:8770"


class TunnelHarness:
    """A tunnel on fakes.

    @ivar signals: what the groups were sent: the pid and the number.
    @ivar deaf: whether the program ignores TERM.
    """

    def __init__(self, folder: Path, **around: Any) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.processes = FakeProcesses()
        self.signals: list[tuple[int, int]] = []
        self.deaf = False
        self.events: list[Event] = []
        self.changes: list[str | None] = []
        hub = EventHub()
        hub.subscribe(self.events.append)
        program = make_program(folder, "cloudflared")
        given: dict[str, Any] = {
            "clock": self.clock,
            "children": ChildRunner(self.clock, self.processes, kill_group=self.kill),
            "hub": hub,
            "command": "cloudflared",
            "find": make_program_finder(SynchronousThreads()),
            "environ": {"PATH": str(program.parent), "HOME": "/h", "SERVICE_PANE_ENV": "x"},
            "home": folder,
            "local_url": lambda: LOCAL,
            "phone_url": lambda: None,
            "sign_in": SignInRule(is_required=True),
            "redactor": SecretRedactor(),
        }
        self.tunnel = TunnelService(TunnelDependencies(**{**given, **around}))
        self.tunnel.add_observer(self.changes.append)

    @property
    def process(self) -> FakeTransport:
        """The newest one."""
        return self.processes.spawned[-1]

    def kill(self, group: int, number: int) -> None:
        """In place of C{os.killpg}: the group is there as long as its leader."""
        process = next(one for one in self.processes.spawned if one.protocol._pid == group)  # type: ignore[attr-defined]
        if process.pid is None:
            raise ProcessLookupError
        self.signals.append((group, number))
        if number == signal.SIGKILL or not self.deaf:
            # As the real thing, never before the call has returned.
            self.clock.callLater(0, self.finish, process, number)

    def finish(self, process: FakeTransport, number: int) -> None:
        """A signal has done its work."""
        if process.pid is not None:
            process.finish(None, number)

    def say(self, text: str) -> None:
        """What cloudflared prints goes to stderr."""
        self.process.protocol.errReceived(text.encode())

    def come_up(self) -> None:
        """The newest process prints what a tunnel that works prints."""
        self.say(cloudflared_output.BANNER)

    def told(self) -> list[str]:
        """The names of the events so far."""
        return [event.name.partition(":")[2] for event in self.events]

    def close(self) -> None:
        """End what a test left running."""
        self.deaf = False
        stopped = Deferred.fromCoroutine(self.tunnel.stop())
        self.clock.pump([0, 3, 0])
        assert stopped.called
