"""The supervisor of checks with sessions, workspaces and commands that a test plays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.task import Clock

from tests.unit.review.review_harness import SESSION_ID, RecordingSessions, add_session_row
from tservice.checks.launch import ChecksUnavailable
from tservice.checks.model import (
    CaseChecks,
    Check,
    CheckResult,
    CheckRun,
    CheckState,
    FailurePolicy,
)
from tservice.checks.publisher import CheckPublisher
from tservice.checks.repository_file.approval_store import FileApprovalStore
from tservice.checks.repository_file.file_model import CheckFolder
from tservice.checks.repository_file.file_routes import parse_check_file
from tservice.checks.repository_file.service import CheckFileService
from tservice.checks.run_executor import CheckRunExecutor
from tservice.checks.service import CaseCheckService
from tservice.checks.store import CheckStore
from tservice.checks.supervisor import CheckSupervisor
from tservice.checks.workspace_state import WorkspaceState
from tservice.core.kernel.event_payloads import (
    ChecksPayload,
    OccurrencePayload,
    SessionExited,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.notice_gate import NoticeGate
from tservice.core.values.payload import Payload
from tservice.sessions.interfaces import InputRequest
from tservice.store.database import Database

TESTS = Check(name="tests", command="make test", timeout_seconds=60)
LINT = Check(name="lint", command="make lint", timeout_seconds=60, paths=("web/*",))
FOLDER = "/work/of-ann"


class PlayedSessions(RecordingSessions):
    """One session, whose typing is observed."""

    def __init__(self) -> None:
        super().__init__(Path(FOLDER))
        self.observers: list[Callable[[str], object]] = []
        self.waits: Deferred[None] | None = None

    def observe_input(self, observer: Callable[[str], object]) -> Callable[[], None]:
        self.observers.append(observer)
        return lambda: self.observers.remove(observer)

    def type(self) -> None:
        for observer in self.observers:
            observer(SESSION_ID)

    async def send_input(self, session_id: str, request: InputRequest) -> Any:
        delivery = await super().send_input(session_id, request)
        await (self.waits or succeed(None))
        return delivery


class PlayedStates:
    """A workspace with one file, whose content a test changes."""

    def __init__(self) -> None:
        self.state: WorkspaceState | None = WorkspaceState({".": "c0"}, {})
        self.waits: Deferred[None] | None = None

    def change(self, path: str = "src/a.py") -> None:
        assert self.state is not None
        files = {**self.state.files, path: str(len(self.state.files)) + path}
        files[path] = self.state.files.get(path, "") + "x"
        self.state = WorkspaceState(self.state.heads, files)

    async def read_state(self, session_id: str) -> WorkspaceState | None:
        await (self.waits or succeed(None))
        return self.state

    async def list_changed(
        self, session_id: str, before: WorkspaceState, now: WorkspaceState
    ) -> frozenset[str] | None:
        paths = {*before.files, *now.files}
        return frozenset(each for each in paths if before.files.get(each) != now.files.get(each))


class PlayedPlaces:
    """A place for every session, or a reason why there is none."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.check_file: Any = None

    async def find_place(self, session: Any, checks: Any) -> Any:
        if self.reason is not None:
            raise ChecksUnavailable(self.reason)
        if checks.file_hash:
            await self.check_file(session, checks)
        return None


async def run_at_once(work: Callable[[], Any], at: str, owner: str | None) -> Any:
    """Stand in for a thread."""
    return work()


class PlayedRunner:
    """Commands that a test ends."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.cancelled: list[str] = []
        self.ends: list[Deferred[CheckState]] = []
        self.ending: Deferred[None] | None = None

    async def run_check(self, place: Any, check: Check, hide: Any) -> CheckResult:
        self.begun.append(check.name)
        end: Deferred[CheckState] = Deferred()
        self.ends.append(end)
        status: int | None = None
        try:
            state = await end
        except CancelledError:
            self.cancelled.append(check.name)
            await (self.ending or succeed(None))
            state = CheckState.CANCELLED
        if state in (CheckState.PASSED, CheckState.FAILED):
            status = int(state is CheckState.FAILED)
        return CheckResult(
            name=check.name, command=check.command, state=state, status=status, output="said\nthis"
        )

    def finish(self, state: CheckState = CheckState.PASSED) -> None:
        self.ends.pop(0).callback(state)


class CheckWorld:
    """A supervisor, restarted on the same database at will."""

    def __init__(self) -> None:
        self.clock, self.database = Clock(), Database.open_in_memory()
        self.clock.advance(1_800_000_000)
        add_session_row(self.database)
        self.store = CheckStore(self.database)
        self.states, self.places = PlayedStates(), PlayedPlaces()
        self.sessions = PlayedSessions()
        self.file: bytes | None = None
        self.made = 0
        self.boot()

    def boot(self) -> None:
        """Start a service on what the database holds."""
        self.hub, self.runner = EventHub(), PlayedRunner()
        self.sessions.observers.clear()
        self.gate = NoticeGate(self.hub)
        self.told: list[ChecksPayload] = []
        self.rang: list[EventName] = []
        self.hub.subscribe(self._hear)
        self.gate.subscribe(lambda event: self.rang.append(event.name))
        sessions: Any = self.sessions
        played: Any = self.states, self.places, self.runner
        states, places, runner = played
        cases: Any = None
        self.files = CheckFileService(
            clock=self.clock, store=FileApprovalStore(self.database), sessions=sessions,
            cases=cases, locations=cases, reader=self.reader, in_thread=run_at_once,
            parse=parse_check_file,
        )  # fmt: skip
        self.places.check_file = self.files.check_unchanged
        self.cases = CaseCheckService(
            clock=self.clock, store=self.store, cases=cases,
            find_approved=self.files.find_session_checks,
        )  # fmt: skip
        self.executor = CheckRunExecutor(
            clock=self.clock, store=self.store, places=places, runner=runner, hide=str
        )
        self.supervisor = CheckSupervisor(
            clock=self.clock, hub=self.hub, gate=self.gate, sessions=sessions, store=self.store,
            cases=self.cases, states=states, executor=self.executor,
            publisher=CheckPublisher(self.hub, sessions, self.store), make_id=self.make_id,
        )  # fmt: skip
        self.supervisor.start()

    async def read_file(self, folder: CheckFolder) -> bytes | None:
        return self.file

    @property
    def reader(self) -> Any:
        return self

    def make_id(self) -> str:
        self.made += 1
        return f"r{self.made}"

    def _hear(self, event: Event) -> None:
        if isinstance(event.payload, ChecksPayload):
            self.told.append(event.payload)

    def save(
        self, *checks: Check, on_failure: FailurePolicy = FailurePolicy.NOTIFY, attempts: int = 0
    ) -> CaseChecks:
        saved = CaseChecks(
            owner="ann", case_name="of-ann", path=FOLDER, checks=checks or (TESTS,),
            on_failure=on_failure, max_attempts=attempts,
        )  # fmt: skip
        self.store.save_checks(saved)
        return saved

    def tell(self, name: EventName) -> None:
        payload: Payload = OccurrencePayload(id=SESSION_ID, at=1)
        if name is EventName.SESSION_EXIT:
            payload = SessionExited(id=SESSION_ID)
        event = Event(name=name, payload=payload, session_id=SESSION_ID, owner="ann")
        self.hub.publish(event)

    def begin_turn(self) -> None:
        self.tell(EventName.SESSION_WORKING)

    def end_turn(self) -> None:
        self.tell(EventName.SESSION_STOP)
        self.tell(EventName.SESSION_IDLE)
        self.clock.advance(0)

    def turn(self, *, changes: bool = True) -> None:
        """Play one turn of the agent."""
        self.begin_turn()
        if changes:
            self.states.change()
        self.end_turn()

    @property
    def last(self) -> CheckRun:
        return self.store.list_runs(SESSION_ID)[0]

    @property
    def rings(self) -> int:
        """Number of notices about ends of turns."""
        return self.rang.count(EventName.SESSION_STOP) + sum(
            each.needs_person for each in self.told
        )

    def set_case(self, name: str | None) -> None:
        self.sessions.session = evolve(self.sessions.session, case_name=name)
