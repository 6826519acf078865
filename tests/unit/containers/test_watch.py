"""Tests for L{tservice.containers.watch}: a container that is removed by force is killed first."""

from __future__ import annotations

from typing import Any, cast

from attrs import evolve
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.answers import Happening
from tservice.containers.model import ContainerCase
from tservice.containers.place import place_of
from tservice.containers.watch import KILLED, OOM, REMOVAL_SECONDS, REMOVED, SETTLED_SECONDS, Watch
from tservice.core.events import EventHub
from tservice.sessions.interfaces import Exit, Session
from tservice.sessions.record.model import NameSource, Phase, fields_of_place

CASE = ContainerCase(owner="", name="web", host_id="default", container="box", path="/srv/web")
OTHER = evolve(CASE, container="other")


class Sessions:
    """Keeps records."""

    def __init__(self) -> None:
        self.kept: dict[str, Session] = {}

    def list(self) -> list[Session]:
        return [*self.kept.values()]

    def update(self, session_id: str, **fields: Any) -> None:
        self.kept[session_id] = evolve(self.kept[session_id], **fields)


class Store:
    """Knows two containers."""

    def container(self, name: str) -> ContainerCase | None:
        return {"box": CASE, "other": OTHER}.get(name)


class RemovalTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.sessions = Clock(), Sessions()
        self.clock.advance(1_000_000)
        known: Any = {
            "processes": None,
            "environ": {},
            "hub": EventHub(),
            "store": Store(),
            "hosts": None,
            "boxes": None,
        }
        sessions = cast(Any, self.sessions)
        self.watch = Watch(clock=self.clock, sessions=lambda: sessions, **known)

    def over(
        self, name: str, reason: str | None, *, case: ContainerCase = CASE, ago: int = 1
    ) -> None:
        """A session whose process is over since so many seconds."""
        at = int(self.clock.seconds() - ago) * 1000
        self.sessions.kept[name] = Session(
            id=name,
            mode="shell",
            name=name,
            name_source=NameSource.MANUAL,
            working_dir="/srv/web",
            created_at=0,
            last_activity_at=0,
            phase=Phase.RUNNING,
            pane_exit=Exit(at=at, reason=reason),
            **fields_of_place(place_of(case)),
        )

    def removed(self) -> None:
        self.watch._happened(Happening(name="box", action="destroy"))

    def reason(self, name: str) -> str | None:
        ending = self.sessions.kept[name].pane_exit
        assert ending is not None
        return ending.reason

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
