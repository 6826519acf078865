"""Tokens of a session of the real Claude Code beside an independent reader of its transcripts."""

from __future__ import annotations

import json

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import HELD, RealClaude
from tests.unit.agents.transcripts.independent_totals import claude_totals
from tests.waiting import SettledCondition

STILL = 1.0
"""Seconds without another drawing after which a command has done what it does."""
SUBAGENT = {
    "description": "look",
    "prompt": "SAY: from the subagent",
    "subagent_type": "general-purpose",
}


class LiveTokenCountTests(RealClaude, SynchronousTestCase):
    """One session, over several files and a restart of the service."""

    def agrees(self) -> None:
        """The record tells what the independent reader finds in all of the home's files."""
        root = self.world.place.home / ".claude" / "projects"

        def same() -> bool:
            tokens = self.record()["tokens"]
            return (tokens["input"], tokens["output"]) == claude_totals(root)

        self.until("the same sums", same)

    def command(self, text: str) -> None:
        """Give a command that begins another conversation, and wait until it has."""
        before = self.record()["conversationIds"]
        path = f"/api/sessions/{self.session}/input"
        answer = self.daemon.request("POST", path, {"input": f"{text}\r"}, patience=HELD)
        self.assertEqual(200, answer.status, answer.body)
        self.until("its conversation", lambda: self.record()["conversationIds"] != before)
        self.until("rest", SettledCondition(self.screen, STILL))

    def test_tokens_of_each_message_count_once(self) -> None:
        self.prompt("SAY: one")
        self.prompt(f"TOOL: Agent {json.dumps(SUBAGENT)}")
        self.prompt("SAY: two")
        self.agrees()
        self.command("/branch")
        self.prompt("SAY: in the branch")
        self.agrees()
        self.command("/clear")
        self.prompt("SAY: anew")
        self.agrees()
        self.told_again()
        self.prompt("SAY: after that")
        self.daemon.kill()
        self.daemon.start()
        self.agrees()
        self.prompt("SAY: after the restart", wait="idle")
        self.agrees()

    def told_again(self) -> None:
        """The transcript tells of every message once more."""
        root = self.world.place.home / ".claude" / "projects"
        paths = sorted(root.glob("*/*.jsonl"), key=lambda path: path.stat().st_mtime)
        lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
        with paths[-1].open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines if '"type":"assistant"' in line)
