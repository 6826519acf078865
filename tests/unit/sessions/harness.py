"""The sessions on fakes: a fake machine with panes, a database in memory, time by a Clock.

C{SessionHarness} outlives the service: L{SessionHarness.restart} ends the service as a kill would
(nothing is
told to stop, the panes run on) and makes another on the same database and host.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import make_caller
from tests.event_helpers import to_wire
from tests.fakes.multiplexer.multiplexer import FakeHost, FakeMultiplexer, FakeProgram, HostedPane
from tests.runtime_harness import FixedRuntimeSettings, build_test_runtime
from tests.unit.cases.fake_cases import FakeGit, FakeHooks, build_fake_cases
from tests.unit.os_user_harness import OsUserWorld
from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.interfaces import ICliRegistry
from tservice.clis.launcher import CliRegistry
from tservice.clis.registry_merge import merge_registry
from tservice.clis.stock_entries import load_stock_entries as read_stock
from tservice.core.callers.caller import Caller
from tservice.core.config.model import Config
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub
from tservice.mux.interface import PaneSpec
from tservice.runtime.runtime import Runtime
from tservice.sessions.build import build_sessions
from tservice.sessions.interfaces import ICustomModels, IInputGate, InputDelivery
from tservice.sessions.life.launcher import NoCustomModels
from tservice.sessions.record.model import Session
from tservice.sessions.record.requests import CreateRequest, InputRequest
from tservice.sessions.service import AgentSupport, PassThroughGate, SessionService
from tservice.store.database import Database

ADMIN = make_caller(username="admin", admin=True)
BOOT = 1_800_000_000.0

_T = TypeVar("_T")

stock_entries = cache(read_stock)


class ReniceLog:
    """Notes priorities instead of setting them; C{error} makes the system refuse."""

    def __init__(self) -> None:
        self.set: list[tuple[int, int]] = []
        self.error: OSError | None = None

    def __call__(self, pid: int, nice: int) -> None:
        if self.error is not None:
            raise self.error
        self.set.append((pid, nice))


class SessionHarness:
    """What the service runs on."""

    def __init__(
        self,
        folder: Path,
        program: Callable[[PaneSpec], FakeProgram] | None = None,
        gate: IInputGate | None = None,
        config: Config | None = None,
        models: Callable[[], ICustomModels] = NoCustomModels,
    ) -> None:
        self._models = models
        self.clock = Clock()
        self.clock.advance(BOOT)
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.host = FakeHost(self.clock, program)
        self.database = Database.open_in_memory(clock=self.clock)
        self.settings = FixedRuntimeSettings()
        self.renice = ReniceLog()
        self.config = config or Config(data_dir=folder / "data", cases_dir=folder / "cases")
        self.gate = gate or PassThroughGate()
        self.os_users = OsUserWorld(folder)
        self.random = random.Random(1)
        self.git, self.hooks = FakeGit(), FakeHooks()
        self.install("bash", "claude", "codex", "gemini", "opencode")
        self.events: list[Event] = []
        self.environ = {
            "PATH": str(folder / "bin"),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        self.boot()

    def install(self, *names: str) -> None:
        """Put programs on the PATH."""
        (self.folder / "bin").mkdir(exist_ok=True)
        for name in names:
            path = self.folder / "bin" / name
            if not path.exists():
                path.write_text("#!/bin/sh\n")
                path.chmod(0o755)

    def boot(self) -> None:
        """Make the service; it is not open yet."""
        self.mux = FakeMultiplexer(self.clock, self.host)
        self.hub = EventHub()
        self.hub.subscribe(self.events.append)
        self.clis = self._clis()
        ground = self.ground()
        self.cases = build_fake_cases(ground, lambda: self.sessions, self.git, self.hooks).service
        self.sessions = build_sessions(
            ground,
            cases=self.cases,
            mux=self.mux,
            clis=self.clis,
            api_url=lambda: "http://127.0.0.1:8770",
            set_priority=self.renice,
            support=AgentSupport(gate=self.gate),
            models=self._models,
        ).service

    def ground(self, **given: Any) -> Runtime:
        """What the features of this machine stand on."""
        fields = {
            "reactor": self.clock,
            "database": self.database,
            "hub": self.hub,
            "settings": self.settings,
            "config": self.config,
            "home": self.home,
            "environ": self.environ,
            "programs": self.programs,
            "random": self.random.randbytes,
            "os_users": self.os_users,
            "account": self.os_users.account,
        }
        return build_test_runtime(self.folder, **{**fields, **given})

    def crash(self) -> None:
        """The service is killed: whatever it was doing ends here, timers included."""
        for pane in list(self.mux._panes):
            pane.detach()
        for call in list(self.clock.getDelayedCalls()):
            call.cancel()
        self.hub = EventHub()

    def spend(self, seconds: float) -> None:
        """Let time pass, from timer to timer."""
        end = self.clock.seconds() + seconds
        while calls := [c for c in self.clock.getDelayedCalls() if c.getTime() <= end]:
            due = min(call.getTime() for call in calls)
            self.clock.advance(max(0.0, due - self.clock.seconds()))
        self.clock.advance(max(0.0, end - self.clock.seconds()))

    def restart(self) -> SessionService:
        """Kill the service and open another."""
        self.crash()
        self.boot()
        self.opening = Deferred.fromCoroutine(self.sessions.load_and_adopt_sessions())
        return self.sessions

    def _clis(self) -> ICliRegistry:
        self.programs = BinaryLookup(self.clock, self.environ, self.home)
        registry = CliRegistry(settings=self.settings, lookup=self.programs, environ=self.environ)
        registry.replace_entries(merge_registry(stock_entries(), {}))
        return registry


class SessionCase(SynchronousTestCase):
    """Tests with a machine and an open service."""

    program: Callable[[PaneSpec], FakeProgram] | None = None

    def setUp(self) -> None:
        self.machine = SessionHarness(Path(self.mktemp()).absolute(), self.program)
        self.clock = self.machine.clock
        self.host = self.machine.host
        self.run_now(self.sessions.load_and_adopt_sessions())

    @property
    def sessions(self) -> SessionService:
        return self.machine.sessions

    @property
    def names(self) -> list[str]:
        """Names of the events so far, but for the noise of updates."""
        return [e.name for e in self.machine.events if e.name != "session:updated"]

    def last(self, name: str) -> dict[str, object]:
        """What the latest event of that name told."""
        found: dict[str, object] = [to_wire(e) for e in self.machine.events if e.name == name][-1]
        return found

    def run_now(self, work: Awaitable[_T]) -> _T:
        """The result of something that needs no time."""
        result: _T = self.successResultOf(start_coroutine(work))
        return result

    def now(self, work: Awaitable[_T]) -> _T:
        """As L{run_now}, and its error is raised."""
        over = start_coroutine(work)
        if isinstance(over.result, Failure):
            self.failureResultOf(over).raiseException()
        result: _T = self.successResultOf(over)
        return result

    def refusal(self, work: Awaitable[Any]) -> ServiceError:
        """The error that a caller is told at once."""
        return self.failureResultOf(start_coroutine(work), ServiceError).value  # type: ignore[no-any-return]

    def assert_refused(self, code: ErrorCode, work: Awaitable[Any]) -> str:
        """The caller is told C{code}; returns the text."""
        error = self.refusal(work)
        self.assertEqual(code, error.code, error.message)
        return error.message

    def create(self, caller: Caller = ADMIN, **fields: Any) -> Session:
        """A session, a shell unless the test says otherwise."""
        request = CreateRequest(**{"mode": "shell", **fields})
        return self.run_now(self.sessions.create(request, caller))

    def shell(self, **fields: Any) -> Session:
        """A running shell."""
        return self.create(start=True, **fields)

    def pane(self, session: Session) -> HostedPane:
        """The machine's side of its pane."""
        return self.host[session.id]

    def type(self, session: Session, text: str, **fields: Any) -> Deferred[InputDelivery]:
        """Put an input in."""
        return start_coroutine(
            self.sessions.send_input(session.id, InputRequest(text=text, **fields))
        )

    def spend(self, seconds: float) -> None:
        """Let time pass, from timer to timer."""
        self.machine.spend(seconds)


def start_coroutine(work: Awaitable[_T]) -> Deferred[_T]:
    """Start a coroutine."""
    return Deferred.fromCoroutine(work)  # type: ignore[arg-type]
