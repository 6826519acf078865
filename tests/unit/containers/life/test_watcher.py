"""Tests for L{tservice.containers.life}: what befalls containers is told as what it is, also what
happened while their engine was away.
"""

from __future__ import annotations

from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.unit.containers.life.played_docker import BOX, CASE, OTHER, SEEN, STOOD, WatchCase
from tservice.containers.engine_output import ContainerState
from tservice.containers.life.events import AGAIN_SECONDS
from tservice.containers.life.pauses import PAUSED, RESUMED
from tservice.containers.life.watcher import (
    DEATH_SECONDS,
    KILLED,
    OOM,
    REMOVAL_SECONDS,
    REMOVED,
    SETTLED_SECONDS,
    STOPPED,
)
from tservice.containers.model import ContainerCase
from tservice.core.kernel.event_payloads import OccurrencePayload
from tservice.core.kernel.events import Event, EventName
from tservice.sessions.interfaces import ProcessExit, SessionStatus


class EngineReconnectTests(WatchCase):
    """An engine that goes away, as when it is started anew, and is back."""

    def setUp(self) -> None:
        super().setUp()
        self.runs("a")
        self.watch.follow_engines()

    def is_back(self) -> None:
        self.clock.advance(AGAIN_SECONDS)

    def test_events_are_followed_again_from_where_they_stopped(self) -> None:
        self.assertEqual(1, len(self.streams))
        words = self.streams[0].argv
        self.assertEqual("1000000.000", words[words.index("--since") + 1])
        self.streams[0].ends()
        self.is_back()
        self.assertEqual(2, len(self.streams))
        words = self.streams[1].argv
        self.assertEqual(f"{1000000 + AGAIN_SECONDS:.3f}", words[words.index("--since") + 1])
        self.streams[1].tells("pause")
        self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))

    def test_engine_without_sessions_is_not_followed(self) -> None:
        self.streams[0].ends()
        self.sessions.kept.clear()
        self.is_back()
        self.assertEqual(1, len(self.streams))
        self.runs("b")
        told = OccurrencePayload(id="b", at=1)
        self.hub.publish(Event(name=EventName.SESSION_INTERACTIVE, payload=told, session_id="b"))
        self.assertEqual(2, len(self.streams))

    def test_pause_while_the_engine_was_away_is_found(self) -> None:
        """And the end of one."""
        self.streams[0].ends()
        self.boxes.seen = {BOX: evolve(SEEN, state=ContainerState.PAUSED)}
        self.is_back()
        self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))
        self.streams[1].ends()
        self.boxes.seen = {BOX: SEEN}
        self.is_back()
        self.assertEqual((SessionStatus.BUSY, RESUMED), self.told("a"))

    def test_event_during_the_inspection_overrides_its_answer(self) -> None:
        """Is newer than the answer."""
        self.streams[0].ends()
        self.boxes.held = Deferred()
        self.is_back()
        self.streams[1].tells("pause")
        self.boxes.held.callback(None)
        self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))

    def test_answer_overtaken_by_the_next_inspection_is_dropped(self) -> None:
        """Is not taken for news, though another look began before what was heard since."""
        self.streams[0].tells("pause")
        self.boxes.seen = {BOX: evolve(SEEN, state=ContainerState.PAUSED)}
        first: Deferred[None] = Deferred()
        self.boxes.held = first
        self.streams[0].ends()
        self.is_back()
        self.boxes.held = None
        self.streams[1].ends()
        self.is_back()
        self.streams[2].tells("unpause")
        first.callback(None)
        self.assertEqual((SessionStatus.BUSY, RESUMED), self.told("a"))

    def test_failed_inspection_is_repeated(self) -> None:
        """Is made again, also while the engine's events are heard."""
        self.streams[0].ends()
        self.boxes.seen = None
        self.is_back()
        self.boxes.seen = {BOX: evolve(SEEN, state=ContainerState.PAUSED)}
        self.clock.advance(AGAIN_SECONDS)
        self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))
        self.assertEqual(2, len(self.streams))

    def test_end_while_the_engine_was_away_is_explained(self) -> None:
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

    def test_stopped_container_was_not_ended_by_an_earlier_memory_kill(self) -> None:
        """Something else in it was, before: by docker's word or by the kernel's."""
        for kills in (None, 1):
            for exit_code in (0, 143):
                self.kills, self.boxes.seen = kills, None
                self.runs("a")
                self.ends("a")
                self.boxes.seen = {BOX: evolve(STOOD, exit_code=exit_code, oom=True)}
                self.is_back()
                self.assertEqual(STOPPED, self.reason("a"))

    def test_memory_kill_while_the_engine_was_away_is_remembered(self) -> None:
        """What the kernel told then is not forgotten until the engine answers."""
        self.boxes.seen, self.kills = None, 1
        self.ends("a", ProcessExit(at=1, signal="SIGKILL"))
        self.streams[0].ends()
        self.kills, self.boxes.seen = None, {BOX: SEEN}
        self.is_back()
        self.assertEqual(OOM, self.reason("a"))

    def test_old_memory_kill_does_not_explain_a_later_kill(self) -> None:
        """As docker tells of it until the container is started again."""
        self.kills = 1
        self.streams[0].ends()
        self.is_back()
        self.kills, self.boxes.seen = None, {BOX: evolve(STOOD, exit_code=137, oom=True)}
        self.ends("a")
        self.assertEqual(KILLED, self.reason("a"))

    def test_removal_while_the_engine_was_away_is_explained(self) -> None:
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.ends("a")
        self.assertEqual(KILLED, self.reason("a"))
        self.streams[0].ends()
        self.boxes.seen = {}
        self.is_back()
        self.assertEqual(REMOVED, self.reason("a"))

    def test_removed_session_is_not_asked_about_again(self) -> None:
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
        self.watch.follow_engines()

    def test_early_inspection_is_repeated_when_the_container_dies(self) -> None:
        """The engine still says that it runs, and tells of the end a moment later."""
        self.ends("a")
        self.assertIsNone(self.reason("a"))
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.streams[0].tells("die")
        self.assertEqual((SessionStatus.IDLE, "its container was killed"), self.told("a"))
        self.assertEqual(SessionStatus.BUSY, self.told("elsewhere")[0])

    def test_memory_kill_explains_only_killed_sessions(self) -> None:
        """Docker tells of it before what it ended is over, or of something else that it ended."""
        self.kills = 1
        self.streams[0].tells("oom")
        self.ends("elsewhere", ProcessExit(at=1, signal="SIGKILL"))
        self.assertEqual(OOM, self.reason("elsewhere"))
        self.clock.advance(SETTLED_SECONDS)
        self.ends("a", ProcessExit(at=1, signal="SIGKILL"))
        self.assertIsNone(self.reason("a"))

    def test_session_that_ended_long_before_is_not_explained(self) -> None:
        """It was not the container's end that ended it."""
        self.ends("a", ProcessExit(at=1, signal="SIGKILL"))
        self.clock.advance(DEATH_SECONDS + 1)
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.streams[0].tells("die")
        self.streams[0].ends()
        self.clock.advance(AGAIN_SECONDS)
        self.assertIsNone(self.reason("a"))

    def test_session_that_exited_by_itself_is_not_explained(self) -> None:
        self.ends("a", ProcessExit(at=1, status=0))
        self.boxes.seen = {BOX: STOOD}
        self.streams[0].tells("die")
        self.assertIsNone(self.reason("a"))

    def test_session_stopped_by_its_user_is_not_explained(self) -> None:
        self.ends("a")
        self.sessions.update_record("a", status=SessionStatus.STOPPED)
        self.boxes.seen = {BOX: STOOD}
        self.streams[0].tells("die")
        self.assertIsNone(self.reason("a"))


class ForcedContainerRemovalTests(WatchCase):
    """A container that is removed by force is killed first."""

    def setUp(self) -> None:
        super().setUp()
        self.runs("here")
        self.watch.follow_engines()

    def over(
        self, name: str, reason: str | None, *, case: ContainerCase = CASE, ago: int = 1
    ) -> None:
        """A session whose process is over since so many seconds."""
        at = int(self.clock.seconds() - ago) * 1000
        ending = ProcessExit(at=at, reason=reason)
        self.runs(name, case, pid=None, status=SessionStatus.IDLE, pane_exit=ending)

    def removed(self) -> None:
        self.streams[0].tells("destroy")

    def test_recently_killed_container_that_is_removed_was_removed(self) -> None:
        self.over("a", KILLED)
        self.over("elsewhere", KILLED, case=OTHER)
        self.over("by memory", OOM)
        self.over("long ago", KILLED, ago=REMOVAL_SECONDS + 1)
        self.removed()
        self.assertEqual(REMOVED, self.reason("a"))
        self.assertEqual("its container was removed", self.sessions.kept["a"].status_reason)
        told = [self.reason(name) for name in ("elsewhere", "by memory", "long ago")]
        self.assertEqual([KILLED, OOM, KILLED], told)

    def test_removal_during_the_explanation_of_a_kill_counts(self) -> None:
        self.over("a", None)
        self.removed()
        self.over("a", KILLED)
        self.clock.advance(SETTLED_SECONDS)
        self.assertEqual(REMOVED, self.reason("a"))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_stopped_service_leaves_no_timer(self) -> None:
        self.removed()
        self.watch.stop()
        self.assertEqual([], self.clock.getDelayedCalls())
