"""Tests for L{tservice.containers.life.pauses}, in what watches containers."""

from __future__ import annotations

from attrs import evolve

from tests.unit.containers.life.played_docker import BOX, STOOD, WatchCase
from tservice.containers.life.pauses import PAUSED, RESUMED
from tservice.core.kernel.events import EventName
from tservice.sessions.interfaces import SessionStatus


class ContainerPauseTests(WatchCase):
    """A container that is paused, and runs again."""

    def setUp(self) -> None:
        super().setUp()
        self.runs("a")
        self.watch.follow_engines()
        self.streams[0].tells("pause")

    def test_paused_container_is_idle_and_resumes_busy(self) -> None:
        self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))
        self.streams[0].tells("unpause")
        self.assertEqual((SessionStatus.BUSY, RESUMED), self.told("a"))

    def test_status_found_during_the_pause_holds_after_it(self) -> None:
        """Does not hide the pause, and holds behind it."""
        for status in (SessionStatus.IDLE, SessionStatus.BUSY):
            self.sessions.found("a", status, "it came up")
            self.clock.advance(0)
            self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))
            self.sessions.update_record("a", status_reason="noted by the way")
            self.clock.advance(0)
            self.assertEqual((SessionStatus.IDLE, PAUSED), self.told("a"))
            self.streams[0].tells("unpause")
            self.assertEqual((status, RESUMED), self.told("a"))
            self.streams[0].tells("pause")

    def test_end_of_the_pause_cancels_the_pending_correction(self) -> None:
        """What was to be corrected is not, any more."""
        self.sessions.found("a", SessionStatus.IDLE, "it came up")
        self.streams[0].tells("unpause")
        self.clock.advance(0)
        self.assertEqual((SessionStatus.IDLE, RESUMED), self.told("a"))

    def test_container_that_ends_while_paused(self) -> None:
        self.boxes.seen = {BOX: evolve(STOOD, exit_code=137)}
        self.ends("a")
        self.clock.advance(0)
        self.runs("a", status_reason="started anew")
        self.streams[0].tells("unpause")
        self.assertEqual((SessionStatus.BUSY, "started anew"), self.told("a"))

    def test_session_removed_while_paused_is_forgotten(self) -> None:
        self.sessions.kept.clear()
        self.sessions.tell("a", EventName.SESSION_DELETED)
        self.clock.advance(0)
        self.streams[0].tells("unpause")
        self.assertEqual({}, self.sessions.kept)

    def test_restarted_service_finds_the_container_paused(self) -> None:
        """Finds what the one before it said."""
        self.runs("b", status=SessionStatus.IDLE, status_reason=PAUSED)
        self.streams[0].tells("unpause")
        self.assertEqual((SessionStatus.IDLE, RESUMED), self.told("b"))
