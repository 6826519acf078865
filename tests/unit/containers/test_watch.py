"""Tests for L{tservice.containers.watch}: what befalls containers is told as what it is, also what
happened while their engine was away."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessTerminated
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers import kernel
from tservice.containers.answers import Seen, State
from tservice.containers.argv import Tongue
from tservice.containers.engine import Engine
from tservice.containers.events import AGAIN_SECONDS
from tservice.containers.model import ContainerCase, ContainerHost
from tservice.containers.model import Engine as EngineName
from tservice.containers.place import place_of
from tservice.containers.watch import (
    DEATH_SECONDS,
    KILLED,
    OOM,
    PAUSED,
    REMOVAL_SECONDS,
    REMOVED,
    SETTLED_SECONDS,
    STOPPED,
    Watch,
)
from tservice.core.errors import failed, not_found
from tservice.core.events import Event, EventHub, EventName
from tservice.core.payloads import ExitTold, Happened
from tservice.sessions.interfaces import Exit, Session, Status
from tservice.sessions.record.model import NameSource, Phase, fields_of_place

RECORDED = Path(__file__).with_name("recorded") / "docker-events.json"
BOX = "service-case-boxed"
HOST = ContainerHost(id="h", label="H", engine=EngineName.DOCKER, image="i:1")
CASE = ContainerCase(owner="", name="web", host_id="h", container=BOX, path="/srv/web")
OTHER = evolve(CASE, container="other")
SEEN = Seen(
    id="5f1c", name=BOX, state=State.RUNNING, pid=7, image="i:1", created=0, exit_code=0, oom=False,
    labels={},
)  # fmt: skip
STOOD = evolve(SEEN, state=State.EXITED, pid=0)


class Sessions:
    """Keeps records."""

    def __init__(self) -> None:
        self.kept: dict[str, Session] = {}

    def list(self) -> list[Session]:
        return [*self.kept.values()]

    def get(self, session_id: str) -> Session:
        if session_id not in self.kept:
            raise not_found("it")
        return self.kept[session_id]

    def update(self, session_id: str, *, durable: bool = True, **fields: Any) -> None:
        self.kept[session_id] = evolve(self.kept[session_id], **fields)


class Store:
    """Knows two containers of one host."""

    def container(self, name: str) -> ContainerCase | None:
        return {BOX: CASE, "other": OTHER}.get(name)

    def cases(self) -> list[ContainerCase]:
        return [CASE, OTHER]

    def hosts(self) -> list[ContainerHost]:
        return [HOST]

    def service_id(self) -> str:
        return "s"


class Hosts:
    """One, spoken to as docker is."""

    def get(self, host_id: str) -> ContainerHost:
        return HOST

    def engine(self, host: ContainerHost) -> Engine:
        return Engine(Tongue(host.engine, "/usr/bin/docker"), cast(Any, None))


class Boxes:
    """An engine as it is seen.

    @ivar seen: what it tells; C{None}: it does not answer.
    @ivar held: what the next answer waits for.
    """

    def __init__(self) -> None:
        self.seen: dict[str, Seen] | None = {BOX: SEEN, "other": evolve(SEEN, name="other")}
        self.held: Deferred[None] | None = None

    def first(self, container: str) -> int:
        return 7

    async def look_at(self, cases: list[ContainerCase]) -> dict[str, Seen]:
        if self.seen is None:
            raise failed("cannot connect to the docker daemon")
        seen = dict(self.seen)
        if self.held is not None:
            await self.held
        return {case.container: seen[case.container] for case in cases if case.container in seen}

    async def look(self, case: ContainerCase) -> Seen | None:
        return (await self.look_at([case])).get(case.container)


class Stream:
    """A stream of events that a test plays."""

    def __init__(self, protocol: Any, argv: list[str]) -> None:
        self.protocol, self.argv, self.over = protocol, argv, False
        protocol.makeConnection(self)

    def closeStdin(self) -> None:
        """It reads nothing."""

    def loseConnection(self) -> None:
        """Its pipes are memory."""

    def signalProcess(self, name: str) -> None:
        self.ends()

    def ends(self) -> None:
        if not self.over:
            self.over = True
            self.protocol.processEnded(Failure(ProcessTerminated(1)))

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
        self.clock, self.sessions, self.boxes = Clock(), Sessions(), Boxes()
        self.clock.advance(1_000_000)
        self.streams: list[Stream] = []
        self.kills: int | None = 0
        self.patch(kernel, "oom_kills", lambda first: self.kills)
        self.hub = EventHub()
        known: Any = {
            "processes": self,
            "environ": {"PATH": ""},
            "hub": self.hub,
            "store": Store(),
            "hosts": Hosts(),
            "boxes": self.boxes,
        }
        sessions = cast(Any, self.sessions)
        self.watch = Watch(clock=self.clock, sessions=lambda: sessions, **known)
        self.watch.start()

    def spawnProcess(self, protocol: Any, program: str, argv: list[str], **how: Any) -> None:
        self.streams.append(Stream(protocol, argv))

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
            phase=Phase.RUNNING,
            **{"pid": 3, "status": Status.BUSY, **fields, **fields_of_place(place_of(case))},
        )

    def ends(self, name: str, ending: Exit | None = None) -> None:
        """Its terminal says that it is over."""
        self.sessions.update(name, pid=None, status=Status.IDLE, pane_exit=ending)
        self.hub.publish(
            Event(name=EventName.SESSION_EXIT, payload=ExitTold(id=name), session_id=name)
        )

    def told(self, name: str) -> tuple[Status, str | None]:
        session = self.sessions.kept[name]
        return session.status, session.status_reason

    def reason(self, name: str) -> str | None:
        ending = self.sessions.kept[name].pane_exit
        return None if ending is None else ending.reason


class EngineTests(WatchCase):
    """An engine that goes away, as when it is started anew, and is back."""

    def setUp(self) -> None:
        super().setUp()
        self.runs("a")
        self.watch.begin()

    def is_back(self) -> None:
        self.clock.advance(AGAIN_SECONDS)

    def test_it_is_listened_to_again(self) -> None:
        self.assertEqual(1, len(self.streams))
        words = self.streams[0].argv
        self.assertEqual("1000000.000", words[words.index("--since") + 1])
        self.streams[0].ends()
        self.is_back()
        self.assertEqual(2, len(self.streams))
        words = self.streams[1].argv
        self.assertEqual(f"{1000000 + AGAIN_SECONDS:.3f}", words[words.index("--since") + 1])
        self.streams[1].tells("pause")
        self.assertEqual((Status.IDLE, PAUSED), self.told("a"))

    def test_nobody_is_there_any_more(self) -> None:
        self.streams[0].ends()
        self.sessions.kept.clear()
        self.is_back()
        self.assertEqual(1, len(self.streams))
        self.runs("b")
        told = Happened(id="b", at=1)
        self.hub.publish(Event(name=EventName.SESSION_INTERACTIVE, payload=told, session_id="b"))
        self.assertEqual(2, len(self.streams))

    def test_a_pause_meanwhile(self) -> None:
        """And the end of one."""
        self.streams[0].ends()
        self.boxes.seen = {BOX: evolve(SEEN, state=State.PAUSED)}
        self.is_back()
        self.assertEqual((Status.IDLE, PAUSED), self.told("a"))
        self.streams[1].ends()
        self.boxes.seen = {BOX: SEEN}
        self.is_back()
        self.assertEqual((Status.IDLE, "its container runs again"), self.told("a"))

    def test_what_is_heard_while_it_is_looked_at(self) -> None:
        """Is newer than the answer."""
        self.streams[0].ends()
        self.boxes.held = Deferred()
        self.is_back()
        self.streams[1].tells("pause")
        self.boxes.held.callback(None)
        self.assertEqual((Status.IDLE, PAUSED), self.told("a"))

    def test_an_end_meanwhile(self) -> None:
        """Asked for until the engine answers, whichever way it is asked."""
        self.kills = None
        for seen, reason in (
            ({BOX: STOOD}, STOPPED),
            ({BOX: evolve(STOOD, exit_code=143)}, STOPPED),
            ({BOX: evolve(STOOD, exit_code=137)}, KILLED),
            ({BOX: evolve(STOOD, exit_code=137, oom=True)}, OOM),
            ({}, REMOVED),
        ):
            self.boxes.seen = None
            self.runs("a")
            self.ends("a")
            self.is_back()
            self.assertIsNone(self.reason("a"))
            self.boxes.seen = cast(Any, seen)
            self.is_back()
            self.assertEqual(reason, self.reason("a"))

    def test_an_end_by_memory_meanwhile(self) -> None:
        """What the kernel told then is not forgotten until the engine answers."""
        self.boxes.seen, self.kills = None, 1
        self.ends("a", Exit(at=1, signal="SIGKILL"))
        self.streams[0].ends()
        self.kills, self.boxes.seen = None, {BOX: SEEN}
        self.is_back()
        self.assertEqual(OOM, self.reason("a"))

    def test_one_by_memory_long_before(self) -> None:
        """As docker tells of it until the container is started again."""
        self.kills = 1
        self.streams[0].ends()
        self.is_back()
        self.kills, self.boxes.seen = None, {BOX: evolve(STOOD, exit_code=137, oom=True)}
        self.ends("a")
        self.assertEqual(KILLED, self.reason("a"))

    def test_one_that_is_removed_meanwhile(self) -> None:
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.ends("a")
        self.assertEqual(KILLED, self.reason("a"))
        self.streams[0].ends()
        self.boxes.seen = {}
        self.is_back()
        self.assertEqual(REMOVED, self.reason("a"))

    def test_one_that_was_removed_as_a_session_is_not_asked_about_again(self) -> None:
        self.boxes.seen = None
        self.ends("a")
        self.sessions.kept.clear()
        self.is_back()
        self.assertEqual([], self.clock.getDelayedCalls())


class DeathTests(WatchCase):
    """What ran in a container ends before it does."""

    def setUp(self) -> None:
        super().setUp()
        self.runs("a")
        self.runs("elsewhere", OTHER)
        self.watch.begin()

    def test_asked_too_early(self) -> None:
        """The engine still says that it runs, and tells of the end a moment later."""
        self.ends("a")
        self.assertIsNone(self.reason("a"))
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.streams[0].tells("die")
        self.assertEqual((Status.IDLE, "its container was killed"), self.told("a"))
        self.assertEqual(Status.BUSY, self.told("elsewhere")[0])

    def test_by_memory(self) -> None:
        """Docker tells of it before what it ended is over, or of something else that it ended."""
        self.kills = 1
        self.streams[0].tells("oom")
        self.ends("elsewhere", Exit(at=1, signal="SIGKILL"))
        self.assertEqual(OOM, self.reason("elsewhere"))
        self.clock.advance(SETTLED_SECONDS)
        self.ends("a", Exit(at=1, signal="SIGKILL"))
        self.assertIsNone(self.reason("a"))

    def test_what_ended_long_before(self) -> None:
        """It was not the container's end that ended it."""
        self.ends("a", Exit(at=1, signal="SIGKILL"))
        self.clock.advance(DEATH_SECONDS + 1)
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.streams[0].tells("die")
        self.streams[0].ends()
        self.clock.advance(AGAIN_SECONDS)
        self.assertIsNone(self.reason("a"))

    def test_what_ended_by_itself(self) -> None:
        self.ends("a", Exit(at=1, status=0))
        self.boxes.seen = {BOX: STOOD}
        self.streams[0].tells("die")
        self.assertIsNone(self.reason("a"))

    def test_one_of_its_own_user(self) -> None:
        self.ends("a")
        self.sessions.update("a", status=Status.STOPPED)
        self.boxes.seen = {BOX: STOOD}
        self.streams[0].tells("die")
        self.assertIsNone(self.reason("a"))


class RemovalTests(WatchCase):
    """A container that is removed by force is killed first."""

    def setUp(self) -> None:
        super().setUp()
        self.runs("here")
        self.watch.begin()

    def over(
        self, name: str, reason: str | None, *, case: ContainerCase = CASE, ago: int = 1
    ) -> None:
        """A session whose process is over since so many seconds."""
        at = int(self.clock.seconds() - ago) * 1000
        ending = Exit(at=at, reason=reason)
        self.runs(name, case, pid=None, status=Status.IDLE, pane_exit=ending)

    def removed(self) -> None:
        self.streams[0].tells("destroy")

    def test_what_was_told_as_killed_was_removed(self) -> None:
        self.over("a", KILLED)
        self.over("elsewhere", KILLED, case=OTHER)
        self.over("by memory", OOM)
        self.over("long ago", KILLED, ago=REMOVAL_SECONDS + 1)
        self.removed()
        self.assertEqual(REMOVED, self.reason("a"))
        self.assertEqual("its container was removed", self.sessions.kept["a"].status_reason)
        told = [self.reason(name) for name in ("elsewhere", "by memory", "long ago")]
        self.assertEqual([KILLED, OOM, KILLED], told)

    def test_what_is_being_explained_just_then(self) -> None:
        self.over("a", None)
        self.removed()
        self.over("a", KILLED)
        self.clock.advance(SETTLED_SECONDS)
        self.assertEqual(REMOVED, self.reason("a"))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_a_stop_of_the_service_leaves_no_timer(self) -> None:
        self.removed()
        self.watch.stop()
        self.assertEqual([], self.clock.getDelayedCalls())
