"""Questions of Codex and opencode, the real ones: items of the inbox, answered there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_family import WAIT, FamilyCase

PORT: dict[str, Any] = {
    "id": "port",
    "header": "Port",
    "question": "Do you want to use which port?",
    "options": [
        {"label": "8080", "description": "The usual one"},
        {"label": "9090", "description": "Another one"},
    ],
}
"""Its words begin like those of a permission."""

LANGUAGE: dict[str, Any] = {
    "id": "lang",
    "header": "Language",
    "question": "Which language?",
    "options": [
        {"label": "Python", "description": "Slow and nice"},
        {"label": "Rust", "description": "Fast and strict"},
    ],
}
CHECKS: dict[str, Any] = {
    "id": "checks",
    "header": "Checks",
    "question": "Which checks?",
    "multiple": True,
    "options": [
        {"label": "Types", "description": "mypy"},
        {"label": "Style", "description": "ruff"},
        {"label": "Tests", "description": "pytest"},
    ],
}


@pytest.mark.long
class FamilyQuestionTests(FamilyCase, SynchronousTestCase):
    """What the agent asks by its own tool."""

    def ask(self, tool: str, *questions: dict[str, Any]) -> None:
        asked = json.dumps({"questions": questions})
        found = self.prompt(f"TOOL: {tool} {asked}", wait="stop,blocked", waitTimeout=WAIT)
        self.assertEqual("blocked", found["wait"]["signal"], self.record()["statusReason"])
        self.assertEqual("busy", self.record()["status"])

    def item(self, message: str | None) -> dict[str, Any]:
        """The item of the page with that question."""

        def look() -> dict[str, Any] | None:
            items = self.call("GET", "/api/approvals")["approvals"]
            return items[0] if items and items[0].get("message") == message else None

        found: dict[str, Any] = self.until(f"the question {message}", look)
        self.assertEqual("question", found["kind"])
        return found

    def give(self, message: str | None, **answer: Any) -> None:
        told = self.daemon.answer_item(self.item(message), **answer)
        self.assertEqual(200, told.status, f"{told.json()}\n{self.screen()}")

    def ended(self, *shown: str) -> None:
        """The turn is over, and the screen shows the answers."""
        self.wait("idle")
        screen = re.sub(r"\x1b\[[0-9;]*m", "", self.screen())
        for text in shown:
            self.assertIn(text, screen)
        self.assertEqual([], self.call("GET", "/api/approvals")["approvals"])

    def test_questions_of_codex_are_answered_in_the_inbox(self) -> None:
        self.begin("codex")
        self.until("the trust page", lambda: "trust dialog" in str(self.record()["statusReason"]))
        self.keys("Enter")
        self.prompt("SAY: ready", wait="idle", waitTimeout=WAIT)
        self.call("PUT", f"{self.path}/permission-mode", permissionMode="plan")
        self.ask("request_user_input", PORT, LANGUAGE)
        labels = [option["label"] for option in self.item(PORT["question"])["options"]]
        self.assertEqual(["8080", "9090"], labels[:2])
        self.give(PORT["question"], action="option", option=2)
        self.give(LANGUAGE["question"], action="option", option=1)
        self.ended("answer: 9090", "answer: Python")

    def test_prompt_of_codex_with_leading_line_ends_is_seen(self) -> None:
        """Its composer drops them, so it never shows the text as it was typed."""
        self.begin("codex")
        self.until("the trust page", lambda: "trust dialog" in str(self.record()["statusReason"]))
        self.keys("Enter")
        self.prompt("SAY: ready", wait="idle", waitTimeout=WAIT)
        found = self.prompt("\n\nSAY: below", wait="stop", waitTimeout=WAIT)
        self.assertEqual(("stop", True), (found["wait"]["signal"], found["delivered"]))
        self.assertEqual("SAY: below", self.world.stub.turns()[-1].prompt)
        refused = self.daemon.request("POST", f"{self.path}/input", {"input": "SAY: \x1b[31mred\r"})
        self.assertEqual(400, refused.status)

    def test_questions_of_opencode_are_answered_in_the_inbox(self) -> None:
        self.begin("opencode")
        self.prompt("SAY: ready", wait="idle", waitTimeout=WAIT)
        self.ask("question", PORT)
        self.give(PORT["question"], action="option", option=2)
        self.ended("9090")
        self.ask("question", LANGUAGE, CHECKS)
        self.give(LANGUAGE["question"], action="option", option=2)
        self.give(CHECKS["question"], action="options", options=[1, 3])
        self.give("Language Checks Confirm", action="approve")
        self.ended("Rust", "Types, Tests")
        self.ask("question", PORT)
        self.give(PORT["question"], action="deny")
        self.ended()
