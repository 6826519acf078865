"""Claude Code stays in its session's pane (its agent view would take it out)."""

from __future__ import annotations

from contextlib import suppress as passing
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.agents.harness import find_leftovers
from tests.waiting import SettledCondition

STILL = 1.0
"""Seconds without another drawing after which a key has done what it does."""


class AgentViewTests(RealClaude, SynchronousTestCase):
    """What moves a session to the background where that is not switched off."""

    def test_agent_view_never_moves_the_session_out_of_its_pane(self) -> None:
        self.prompt("SAY: one")
        for key in ("Left", "Left", "Escape"):
            self.key(key)
            self.until("rest", SettledCondition(self.screen, STILL))
        self.assertNotIn("moved to the background", self.screen())
        self.answers_here("two")
        for command in ("/bg", "/background"):
            path = f"/api/sessions/{self.session}/input"
            self.daemon.request("POST", path, {"input": f"{command}\r"})
            self.until("rest", SettledCondition(self.screen, STILL))
            self.assertIn("\n❯\xa0", self.screen())
        self.answers_here("three")
        self.call("DELETE", f"/api/sessions/{self.session}")
        self.until("no process of its own", lambda: not self.left_running())

    def left_running(self) -> list[bytes]:
        """The commands of the agent's processes."""
        found = []
        for process in find_leftovers(self.world.place.home):
            with passing(OSError):  # it is over
                found.append(Path(f"/proc/{process}/cmdline").read_bytes())
        return [each for each in found if b"claude" in each]

    def answers_here(self, text: str) -> None:
        """The next turn is this session's: its hooks, its answer and its conversation."""
        before = self.record()["conversationIds"]
        found = self.prompt(f"SAY: {text}")
        self.assertEqual("stop", found["wait"]["signal"])
        path = f"/api/sessions/{self.session}/last-response"
        self.assertEqual(text, self.call("GET", path)["text"])
        self.assertEqual(before, self.record()["conversationIds"])
