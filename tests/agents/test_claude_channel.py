"""Claude Code in the real daemon: its permission hook takes the answer while the dialog stands."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude

BY_HOOK = "by PermissionRequest hook"
"""What the CLI prints below a tool whose dialog its hook answered."""


class DecisionCase(RealClaude):
    """Dialogs that are answered through the hook, in either version."""

    params = {"permissionMode": "default"}

    def asked(self, prompt: str) -> dict[str, Any]:
        """Have the agent ask; the item once its hook told of the tool."""
        self.prompt(prompt, wait="blocked")

        def look() -> dict[str, Any] | None:
            found = [item for item in self.pending() if item.get("toolDigest")]
            return found[0] if found and found[0].get("options") else None

        found: dict[str, Any] = self.until("an item with its tool", look)
        return found

    def check_answers(self) -> None:
        """Approve, deny, deny with a reason, and a question: each without a key."""
        self.answer(self.asked("RUN: touch one.txt"), action="approve")
        self.until("the file", (self.work / "one.txt").exists)
        self.until("the hook's mark", lambda: f"Allowed {BY_HOOK}" in self.screen())
        self.until_idle()
        self.assertEqual([], self.pending())

        self.answer(self.asked("RUN: touch two.txt"), action="deny", reason="use mkdir instead")
        self.until("the reason", lambda: "use mkdir instead" in self.screen())
        self.until_idle()
        self.assertFalse((self.work / "two.txt").exists())
        # The turn went on: the model was asked again.
        self.assertTrue(self.world.stub.requests()[-1].after_tool)

        self.answer(self.asked("RUN: touch three.txt"), action="deny")
        self.until("the refusal", lambda: "What should Claude do instead?" in self.screen())
        self.until_idle()
        self.assertFalse((self.work / "three.txt").exists())

        self.answer(self.asked("ASK:"), action="option", option=2)
        self.until("the answer", lambda: "→ Move to 9090" in self.screen())
        self.until_idle()
        self.assertEqual([], self.pending())

    def check_rule(self) -> None:
        """A rule answers the hook, and nothing is pending; the next tool is asked for."""
        rule = {"scope": {"all": True}, "tool": "Bash", "action": "allow"}
        match = {"command": {"prefix": ["touch", "ruled.txt"]}}
        self.daemon.request("POST", "/api/approval-rules", {**rule, "match": match}).data()
        self.prompt("RUN: touch ruled.txt")
        self.until("the file", (self.work / "ruled.txt").exists)
        self.until_idle()
        self.assertEqual([], self.pending())
        found = self.daemon.request("GET", "/api/approval-rules/answers").data()["answers"]
        self.assertEqual(1, sum("rule" in each for each in found))
        self.answer(self.asked("RUN: touch asked.txt"), action="approve")
        self.until("the file", (self.work / "asked.txt").exists)
        self.until_idle()

    def check_keys(self) -> None:
        """A person's key ends the hold; the answer that follows goes by keys, and nothing twice."""
        item = self.asked("RUN: touch four.txt")
        self.key("Down")
        self.until("the moved mark", lambda: "❯ 2. Yes" in self.screen())
        self.answer(self.pending()[0] | {"id": item["id"]}, action="option", option=1)
        self.until("the file", (self.work / "four.txt").exists)
        self.until_idle()

    def check_restart(self) -> None:
        """The dialog stands while the service is away; then keys answer it."""
        self.asked("RUN: touch five.txt")
        self.daemon.restart()
        item = self.approval()
        self.answer(item, action="approve")
        self.until("the file", (self.work / "five.txt").exists)
        self.until_idle()


class ProvedDecisionTests(DecisionCase, SynchronousTestCase):
    """The version of the other tests."""

    def test_dialogs_are_answered_through_the_hook(self) -> None:
        self.check_answers()
        self.check_rule()
        self.check_keys()
        self.check_restart()


class NewestDecisionTests(DecisionCase, SynchronousTestCase):
    """The newest version."""

    version = "2.1.332"

    def test_dialogs_are_answered_through_the_hook(self) -> None:
        self.check_answers()
        self.check_rule()
        self.check_keys()
        self.check_restart()


class StatusCase(DecisionCase):
    """The status file, which tells what no hook does."""

    def check_status(self) -> None:
        """Escape in a turn and at a dialog, and a command of the person."""
        self.prompt("SAY: ready")
        # The screen may be first now and then.
        self.assertTrue(any(self.interrupt_turn() for _ in range(5)))
        self.asked("RUN: touch six.txt")
        self.key("Escape")
        self.until_idle()
        self.type("!sleep 2")
        self.until("the command", lambda: self.record()["status"] == "busy")
        self.until_idle()
        self.assertNotIn("statusConflict", self.record())

    def interrupt_turn(self) -> bool:
        """End a turn by Escape; return true if the status file was the evidence."""
        self.type("SLOW: 60")
        self.until("the turn", lambda: self.record()["status"] == "busy")
        self.until("its first word", lambda: "word0" in self.screen().rpartition("SLOW")[2])
        self.key("Escape")
        self.until_idle()
        return bool(self.record()["statusReason"] == "status file: idle")


class ProvedStatusTests(StatusCase, SynchronousTestCase):
    """The version of the other tests."""

    def test_status_file_ends_what_no_hook_ends(self) -> None:
        self.check_status()


class NewestStatusTests(StatusCase, SynchronousTestCase):
    """The newest version."""

    version = "2.1.332"

    def test_status_file_ends_what_no_hook_ends(self) -> None:
        self.check_status()
