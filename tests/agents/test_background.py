"""Shells of Claude Code that run beside its turns."""

from __future__ import annotations

import os
import signal
from contextlib import suppress as passing
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven import RealClaude
from tests.agents.world import leftovers


class BackgroundTests(RealClaude, SynchronousTestCase):
    """One command in the background."""

    def tasks(self) -> object:
        return self.record().get("backgroundTasks")

    def end_task(self) -> None:
        """End the command, as somebody does who has had enough of it."""
        for pid in leftovers(self.world.place.home):
            with passing(OSError):  # another one that is over
                if Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x00300\x00":
                    os.kill(pid, signal.SIGTERM)

    def test_it_is_counted_and_its_end_begins_a_turn(self) -> None:
        self.prompt("SAY: ready")
        self.until("no task", lambda: self.tasks() == 0)
        # It lasts until it is known to be counted, however long this turn takes to end.
        call = '{"command": "sleep 300", "description": "rest", "run_in_background": true}'
        self.prompt(f"TOOL: Bash {call}")
        self.assertEqual(1, self.tasks(), self.screen())
        self.end_task()
        self.until("its end", lambda: self.tasks() == 0)
        self.prompt("RUN: touch made.txt", wait="blocked")
        self.assertEqual("Bash touch made.txt", self.record()["currentTool"])
        self.answer(self.approval(), action="deny")
        self.until("the refusal", lambda: "currentTool" not in self.record())
