"""A docker that a test plays, and what of it is watched."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessTerminated
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers import procfs
from tservice.containers.command_lines import EngineDialect
from tservice.containers.engine import EngineClient
from tservice.containers.engine_output import ContainerSnapshot, ContainerState
from tservice.containers.life.watcher import (
    ContainerWatcher,
)
from tservice.containers.location import get_case_location
from tservice.containers.model import ContainerCase, ContainerHost
from tservice.containers.model import EngineKind as EngineName
from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.core.kernel.event_payloads import OccurrencePayload, SessionExited, SessionPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.process.child import ChildRunner
from tservice.sessions.interfaces import ProcessExit, Session, SessionStatus
from tservice.sessions.record.model import NameSource, ProcessPhase, location_fields

RECORDED = Path(__file__).parents[1] / "recorded" / "docker-events.json"
BOX = "service-case-boxed"
HOST = ContainerHost(id="h", label="H", engine=EngineName.DOCKER, image="i:1")
CASE = ContainerCase(owner="", name="web", host_id="h", container=BOX, path="/srv/web")
OTHER = evolve(CASE, container="other")
SEEN = ContainerSnapshot(
    id="5f1c", name=BOX, state=ContainerState.RUNNING, pid=7, image="i:1", created=0, exit_code=0,
    oom=False,
    labels={},
)  # fmt: skip
STOOD = evolve(SEEN, state=ContainerState.EXITED, pid=0)


class FakeSessionRecords:
    """Keeps records, and tells of what becomes another in them."""

    def __init__(self, hub: EventHub) -> None:
        self.kept: dict[str, Session] = {}
        self.hub = hub

    def list(self) -> list[Session]:
        return [*self.kept.values()]

    def get(self, session_id: str) -> Session:
        if session_id not in self.kept:
            raise make_not_found_error("it")
        return self.kept[session_id]

    def update_record(self, session_id: str, *, durable: bool = True, **fields: Any) -> None:
        self.kept[session_id] = evolve(self.kept[session_id], **fields)
        told = SessionPayload(id=session_id)
        self.hub.publish(Event(name=EventName.SESSION_UPDATED, payload=told, session_id=session_id))

    def tell(self, session_id: str, name: EventName) -> None:
        """Say that something happened to it."""
        told = OccurrencePayload(id=session_id, at=1)
        self.hub.publish(Event(name=name, payload=told, session_id=session_id))

    def found(self, session_id: str, status: SessionStatus, reason: str) -> None:
        """What its terminal shows is told as its own watcher does."""
        self.update_record(session_id, durable=False, status=status, status_reason=reason)
        busy = status is SessionStatus.BUSY
        self.tell(session_id, EventName.SESSION_WORKING if busy else EventName.SESSION_IDLE)


class FakeContainerStore:
    """Knows two containers of one host."""

    def find_by_container(self, name: str) -> ContainerCase | None:
        return {BOX: CASE, "other": OTHER}.get(name)

    def list_cases(self) -> list[ContainerCase]:
        return [CASE, OTHER]

    def list_hosts(self) -> list[ContainerHost]:
        return [HOST]

    def service_id(self) -> str:
        return "s"


class FakeContainerHosts:
    """One, spoken to as docker is."""

    def get(self, host_id: str) -> ContainerHost:
        return HOST

    def get_engine(self, host: ContainerHost) -> EngineClient:
        return EngineClient(EngineDialect(host.engine, "/usr/bin/docker"), cast(Any, None))


class FakeContainerRegistry:
    """An engine as it is seen.

    @ivar seen: what it tells; C{None}: it does not answer.
    @ivar held: what the next answer waits for.
    """

    def __init__(self) -> None:
        self.seen: dict[str, ContainerSnapshot] | None = {
            BOX: SEEN,
            "other": evolve(SEEN, name="other"),
        }
        self.held: Deferred[None] | None = None

    def get_main_pid(self, container: str) -> int:
        return 7

    async def inspect_containers(self, cases: list[ContainerCase]) -> dict[str, ContainerSnapshot]:
        if self.seen is None:
            raise make_failure_error("cannot connect to the docker daemon")
        seen = dict(self.seen)
        if self.held is not None:
            await self.held
        return {case.container: seen[case.container] for case in cases if case.container in seen}

    async def inspect_container(self, case: ContainerCase) -> ContainerSnapshot | None:
        return (await self.inspect_containers([case])).get(case.container)


class PlayedEventStream:
    """A stream of events that a test plays."""

    def __init__(self, protocol: Any, argv: list[str]) -> None:
        self.protocol, self.argv, self.over = protocol, argv, False
        self.pid: int | None = 7
        protocol.makeConnection(self)

    def closeStdin(self) -> None:
        """It reads nothing."""

    def loseConnection(self) -> None:
        """Its pipes are memory."""

    def signalProcess(self, name: str) -> None:
        self.ends()

    def ends(self) -> None:
        if not self.over:
            self.over, self.pid = True, None
            why = Failure(ProcessTerminated(1))
            self.protocol.processExited(why)
            self.protocol.processEnded(why)

    def tells(self, action: str) -> None:
        """Say what docker says, as it was recorded."""
        for line in RECORDED.read_text().splitlines():
            if f'"Action":"{action}"' in line:
                self.protocol.outReceived(f"{line}\n".encode())
                return
        raise AssertionError(f"no {action} was recorded")


class WatchCase(SynchronousTestCase):
    """A docker that a test plays, and two containers of its."""

    def setUp(self) -> None:
        self.clock, self.hub, self.boxes = Clock(), EventHub(), FakeContainerRegistry()
        self.sessions = FakeSessionRecords(self.hub)
        self.clock.advance(1_000_000)
        self.streams: list[PlayedEventStream] = []
        self.kills: int | None = 0
        self.patch(procfs, "count_oom_kills", lambda first: self.kills)
        known: Any = {
            "children": ChildRunner(self.clock, cast(Any, self)),
            "environ": {"PATH": ""},
            "hub": self.hub,
            "store": FakeContainerStore(),
            "hosts": FakeContainerHosts(),
            "boxes": self.boxes,
        }
        sessions = cast(Any, self.sessions)
        self.watch = ContainerWatcher(clock=self.clock, sessions=lambda: sessions, **known)
        self.watch.start()

    def spawnProcess(self, protocol: Any, program: str, argv: list[str], **how: Any) -> None:
        self.streams.append(PlayedEventStream(protocol, argv))

    def tearDown(self) -> None:
        self.watch.stop()
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertTrue(all(stream.over for stream in self.streams))

    def runs(self, name: str, case: ContainerCase = CASE, **fields: Any) -> None:
        """A session that is at work there."""
        self.sessions.kept[name] = Session(
            id=name,
            mode="shell",
            name=name,
            name_source=NameSource.MANUAL,
            working_dir="/srv/web",
            created_at=0,
            last_activity_at=0,
            phase=ProcessPhase.RUNNING,
            **{
                "pid": 3,
                "status": SessionStatus.BUSY,
                **fields,
                **location_fields(get_case_location(case)),
            },
        )

    def ends(self, name: str, ending: ProcessExit | None = None) -> None:
        """Its terminal says that it is over."""
        self.sessions.update_record(name, pid=None, status=SessionStatus.IDLE, pane_exit=ending)
        self.hub.publish(
            Event(name=EventName.SESSION_EXIT, payload=SessionExited(id=name), session_id=name)
        )

    def told(self, name: str) -> tuple[SessionStatus, str | None]:
        session = self.sessions.kept[name]
        return session.status, session.status_reason

    def reason(self, name: str) -> str | None:
        ending = self.sessions.kept[name].pane_exit
        return None if ending is None else ending.reason
