"""Shells of Claude Code that run beside its turns."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven import RealClaude


class BackgroundTests(RealClaude, SynchronousTestCase):
    """One command in the background."""

    def tasks(self) -> object:
        return self.record().get("backgroundTasks")

    def test_it_is_counted_and_its_end_begins_a_turn(self) -> None:
        self.prompt("SAY: ready")
        self.until("no task", lambda: self.tasks() == 0)
        call = '{"command": "sleep 6", "description": "rest", "run_in_background": true}'
        self.prompt(f"TOOL: Bash {call}")
        self.assertEqual(1, self.tasks(), self.screen())
        self.until("its end", lambda: self.tasks() == 0)
        self.prompt("RUN: touch made.txt", wait="blocked")
        self.assertEqual("Bash touch made.txt", self.record()["currentTool"])
        self.answer(self.approval(), action="deny")
        self.until("the refusal", lambda: "currentTool" not in self.record())
