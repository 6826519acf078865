"""What the looks at one agent show together."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames.score import RULES
from tests.unit.agents.harness import BUSY_TITLE, COMPOSER, IDLE_TITLE, PERMISSION, SPINNER
from tests.unit.terminal.screen_builders import read_status
from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.look_summary import CaptureSummary
from tservice.agents.activity.poll_schedule import CALM, STREAK


class SeenTurnTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.seen = CaptureSummary(rules=RULES["claude"], hooks=True)
        self.now = 100.0

    def look(self, screen: str, title: str, doing: AgentState = AgentState.WORKING) -> None:
        self.seen = self.seen.after_capture(
            read_status(screen, title=title), title, doing, self.now
        )

    def test_seen_turn_is_over_after_a_calm(self) -> None:
        self.look(SPINNER, BUSY_TITLE)
        self.look(COMPOSER, IDLE_TITLE)
        self.assertEqual(self.now, self.seen.calm_since)
        self.assertFalse(self.seen.proves_idle_like_silence(self.now))
        self.assertTrue(self.seen.proves_idle_like_silence(self.now + CALM))

    def test_unseen_turn_is_not_over(self) -> None:
        self.look(COMPOSER, IDLE_TITLE)
        self.assertIsNone(self.seen.calm_since)
        self.look(PERMISSION, IDLE_TITLE)
        self.seen = self.seen.start_turn()
        self.look(COMPOSER, IDLE_TITLE)
        self.assertIsNone(self.seen.calm_since)

    def test_consecutive_idle_looks_count_as_silence(self) -> None:
        self.look(COMPOSER, BUSY_TITLE, AgentState.IDLE)
        self.assertTrue(self.seen.titled)
        self.seen = self.seen.start_turn()
        for _ in range(STREAK):
            self.assertFalse(self.seen.proves_idle_like_silence(self.now))
            self.look(COMPOSER, "")
        self.assertTrue(self.seen.proves_idle_like_silence(self.now))

    def test_run_of_idle_looks_is_broken_by_work_or_a_failed_look(self) -> None:
        self.look(SPINNER, BUSY_TITLE)
        self.look(COMPOSER, IDLE_TITLE)
        self.assertEqual(1, self.seen.streak)
        self.look(SPINNER, BUSY_TITLE)
        self.assertEqual((0, None), (self.seen.streak, self.seen.calm_since))
        self.look(COMPOSER, IDLE_TITLE)
        missed = self.seen.after_failed_capture()
        self.assertEqual((0, None), (missed.streak, missed.calm_since))
        self.assertTrue(missed.titled)
