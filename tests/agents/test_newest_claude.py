"""The newest Claude Code in the real daemon, where it differs from the other tests' version."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.agents.status_truth import StatusWatcher


class NewestClaudeTests(RealClaude, SynchronousTestCase):
    """Hooks that the older version does not have."""

    version = "2.1.332"

    def test_failed_tool_is_over(self) -> None:
        self.prompt("SAY: ready")
        with StatusWatcher(self.daemon, self.session) as watcher:
            self.prompt("RUN: ls missing")
            self.until("the tool's end", lambda: watcher.hooks("tool_ended"))
        self.assertNotIn("currentTool", self.record())


class AutoModeTests(RealClaude, SynchronousTestCase):
    """Auto mode behind a gateway, where its check of actions cannot run."""

    version = "2.1.332"
    params = {"permissionMode": "auto"}

    def test_question_of_auto_mode_is_an_item(self) -> None:
        self.prompt("SAY: ready")
        found = self.prompt("RUN: curl -s http://127.0.0.1:9/", wait="blocked")
        self.assertEqual("blocked", found["wait"]["signal"])
        item = self.approval()
        self.assertEqual("Auto mode can't check actions in this session", item["message"])
        stay, leave, cancel = self.labels(item)
        self.assertEqual(("stay in auto mode", "cancel"), (stay, cancel))
        self.assertTrue(leave.startswith("leave for accept edits mode"))
        self.answer(item, action="option", option=1)
        asked = self.until("the command's own dialog", self.command_item)
        # The refusal stands first.
        self.assertEqual(["No", "Yes"], self.labels(asked))
        self.answer(asked, action="approve")
        self.until("the command's end", lambda: "Done with the tool" in self.screen())
        self.until_idle()
        self.assertEqual([], self.pending())

    def labels(self, item: dict[str, Any]) -> list[str]:
        return [str(option["label"]) for option in item["options"]]

    def command_item(self) -> dict[str, Any] | None:
        items = [each for each in self.pending() if "curl" in (each["context"] or "")]
        return items[0] if items else None
