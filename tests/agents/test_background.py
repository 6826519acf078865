"""Shells of Claude Code that run beside its turns."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.agents.harness import end_command


class BackgroundTests(RealClaude, SynchronousTestCase):
    """One command in the background."""

    def tasks(self) -> object:
        return self.record().get("backgroundTasks")

    def test_background_task_is_counted_and_its_end_begins_a_turn(self) -> None:
        self.prompt("SAY: ready")
        self.until("no task", lambda: self.tasks() == 0)
        # It lasts until it is known to be counted, however long this turn takes to end.
        call = '{"command": "sleep 300", "description": "rest", "run_in_background": true}'
        self.prompt(f"TOOL: Bash {call}")
        self.assertEqual(1, self.tasks(), self.screen())
        home = self.world.place.home
        self.until("the command", lambda: end_command(home, "sleep", "300"))
        self.until("its end", lambda: self.tasks() == 0)
        self.prompt("RUN: touch made.txt", wait="blocked")
        # Each hook comes by a process of its own, and waits for the one before it but a while.
        tool = "Bash touch made.txt"
        self.until("the tool", lambda: self.record().get("currentTool") == tool)
        self.answer(self.approval(), action="deny")
        self.until("the refusal", lambda: "currentTool" not in self.record())
