"""Claude Code in a cloned repository that brings a hook, through the real daemon."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude


class FolderTrustTests(RealClaude, SynchronousTestCase):
    """The hook of a stranger touches a file as the agent starts."""

    def begin(self, **environment: str) -> None:
        self.marker = self.work.parent / "owned"
        self.environment = environment
        origin = self.work.parent / "origin"
        settings = origin / ".claude/settings.json"
        settings.parent.mkdir(parents=True)
        self.write_hook(settings, f"touch {self.marker}")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "hooks"]):
            self.git(origin, *words)
        self.git(self.work, "clone", "-q", str(origin), str(self.work))
        super().begin(**environment)

    def git(self, folder: Path, *words: str) -> None:
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True)

    def write_hook(self, settings: Path, command: str) -> None:
        hook = {"type": "command", "command": command}
        settings.write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))

    def leave(self) -> None:
        """End the agent as its user does."""
        self.type("/exit")
        self.until("its end", lambda: self.record()["pid"] is None)

    @pytest.mark.essential
    def test_a_hook_of_a_clone_waits_for_the_inbox(self) -> None:
        record = self.record()
        self.assertIsNone(record["pid"])
        self.assertIn("inbox", record["statusReason"])
        item = self.approval()
        self.assertIn(f"touch {self.marker}", item["toolSummary"])
        self.assertTrue(item["complete"])
        self.assertFalse(self.marker.exists())

        self.answer(item, action="approve")
        self.until("the hook", self.marker.exists)
        # The agent's own dialog is answered as well, so a prompt gets through.
        self.assertTrue(self.prompt("SAY: hello")["delivered"])

        # Remembered as it is, asked about when a pull changes it.
        path = f"/api/sessions/{self.session}"
        self.leave()
        self.call("POST", f"{path}/start")
        self.assertTrue(self.prompt("SAY: again")["delivered"])
        other = self.work.parent / "owned-again"
        self.write_hook(self.work / ".claude/settings.json", f"touch {other}")
        self.leave()
        refused = self.daemon.request("POST", f"{path}/start", {})
        self.assertEqual((409, "CONFLICT"), (refused.status, refused.json()["errorCode"]))
        self.assertIn(f"touch {other}", self.approval()["toolSummary"])
        self.answer(self.approval(), action="deny")
        self.assertFalse(other.exists())
        self.assertIsNone(self.record()["pid"])

    def test_always_is_the_control(self) -> None:
        """Nobody is asked, and the hook runs: so it would, without the question."""
        self.call("PUT", "/api/settings", trustFolders="always")
        self.call("POST", f"/api/sessions/{self.session}/start")
        self.until("the hook", self.marker.exists)
        self.assertEqual([], self.pending())
