"""Codex in the real daemon: its own server tells the service of turns and exact commands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import DrivenSessionCase
from tests.agents.harness import find_leftovers
from tests.agents.served_codex import serve_codex
from tests.agents.stub.record import ModelTurn
from tests.waiting import wait_until

COMMAND = """touch "it's \\$x.txt" 'a "b"'"""
"""What two layers of quotes must not change."""

BY_KEY = "You approved codex"
"""What the CLI prints if its own dialog was answered with a key."""


class ServedCodex(DrivenSessionCase):
    """Codex from the cache in a folder that is trusted.

    @cvar version: its exact version; the one of the cache where it is L{None}.
    """

    version: str | None = None

    def setUp(self) -> None:
        held = ExitStack()
        self.addCleanup(held.close)
        self.world, self.daemon = held.enter_context(serve_codex(self.version))
        self.work = self.world.place.work

    def begin(self, **environment: str) -> None:
        self.session = self.call(
            "POST", "/api/sessions", mode="codex", workingDir=str(self.work), start=True
        )["session"]["id"]

    def turns(self) -> list[ModelTurn]:
        return list(self.world.stub.turns())

    def processes(self) -> list[str]:
        """Commands of the processes of this home."""
        found = []
        for process in find_leftovers(self.world.place.home):
            try:
                found.append(Path(f"/proc/{process}/cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return [each for each in found if "codex" in each]

    def is_served(self) -> bool:
        return any(" app-server --listen unix://" in each for each in self.processes())

    def asked(self, prompt: str) -> dict[str, Any]:
        """Have the agent ask; the item once the server told of the command."""
        self.prompt(prompt, wait="blocked")

        def look() -> dict[str, Any] | None:
            found = [item for item in self.pending() if item.get("toolDigest")]
            return found[0] if found and found[0].get("options") else None

        found: dict[str, Any] = self.until("an item with its command", look)
        return found

    def is_turn_told(self) -> bool:
        """Have a turn; return true if the server was the evidence of its beginning or its end."""
        told: list[str] = []

        def is_over() -> bool:
            record = self.record()
            told.append(str(record["statusReason"]))
            return bool(record["status"] == "idle")

        self.type("SLOW: 2")
        self.until("the turn", lambda: not is_over())
        self.until("its end", is_over)
        return any(each.startswith("app-server: ") for each in told)

    def check_reports(self) -> None:
        """Status and exact commands, a person's key, a restart of the service, and the end."""
        self.begin()
        self.prompt("SAY: ready")
        self.assertTrue(self.is_served())
        # The screen may be first now and then.
        self.assertTrue(any(self.is_turn_told() for _ in range(5)))

        item = self.asked(f"RUN: {COMMAND}")
        self.assertEqual(("Shell", COMMAND), (item["toolName"], item["toolSummary"]))
        self.assertTrue(item["complete"])
        self.key("Enter")
        self.until("the files", (self.work / 'a "b"').exists)
        self.assertTrue((self.work / "it's $x.txt").exists())
        self.until("an empty inbox", lambda: not self.pending())
        self.until_idle()

        before = self.asked("RUN: touch two.txt")
        self.daemon.restart()
        self.until(
            "the same item", lambda: [each["id"] for each in self.pending()] == [before["id"]]
        )
        self.assertEqual("touch two.txt", self.pending()[0]["toolSummary"])
        self.answer(self.pending()[0], action="approve")
        self.until("the file", (self.work / "two.txt").exists)
        self.until_idle()
        self.assertNotIn("statusConflict", self.record())

        self.call("DELETE", f"/api/sessions/{self.session}")
        self.until_gone("processes", self.processes)
        self.until_gone("sockets", lambda: list((self.daemon.data / "channels").iterdir()))

    def check_answers(self) -> None:
        """Answers without a key, one that only keys can give, and a key that was first."""
        self.begin()
        self.prompt("SAY: ready")
        self.answer(self.asked("RUN: touch one.txt"), action="approve")
        self.until("the file", (self.work / "one.txt").exists)
        self.until_idle()
        self.answer(self.asked("RUN: touch two.txt"), action="option", option=1)
        self.until("the file", (self.work / "two.txt").exists)
        self.until_idle()
        self.answer(self.asked("RUN: touch three.txt"), action="deny")
        self.until("the refusal", lambda: "Conversation interrupted" in self.screen())
        self.until_idle()
        self.assertEqual([], self.pending())
        self.assertFalse((self.work / "three.txt").exists())
        self.assertNotIn(BY_KEY, self.screen())

        self.answer(self.asked("RUN: touch four.txt"), action="option", option=2)
        self.until("the file", (self.work / "four.txt").exists)
        self.until("the agent's own words", lambda: BY_KEY in self.screen())
        self.until_idle()

        late = self.asked("RUN: touch five.txt")
        self.key("Escape")
        path = f"/api/approvals/{late['id']}/answer"
        refused = self.daemon.request("POST", path, {"action": "approve"})
        self.assertIn(refused.status, (404, 409))
        self.until_idle()
        self.assertEqual([], self.pending())
        self.assertFalse((self.work / "five.txt").exists())

    def until_gone(self, what: str, look: Callable[[], list[Any]]) -> None:
        wait_until(f"no {what}", lambda: not look(), told=look)

    def check_without(self) -> None:
        """Switched off, the session is started as ever."""
        self.call("PUT", "/api/settings", agentChannelsOff=["codex"])
        self.begin()
        self.prompt("SAY: ready")
        self.assertFalse(self.is_served())
        self.assertTrue(any("--no-daemon" in each for each in self.processes()))


class ProvedServerTests(ServedCodex, SynchronousTestCase):
    """The version of the other tests."""

    def test_server_reports_turns_and_exact_commands(self) -> None:
        self.check_reports()

    def test_dialogs_are_answered_through_the_server(self) -> None:
        self.check_answers()

    def test_agent_without_channel_starts_as_usual(self) -> None:
        self.check_without()


class NewestServerTests(ServedCodex, SynchronousTestCase):
    """The newest version."""

    version = "0.171.0"

    def test_server_reports_turns_and_exact_commands(self) -> None:
        self.check_reports()

    def test_dialogs_are_answered_through_the_server(self) -> None:
        self.check_answers()
