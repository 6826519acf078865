"""Codex' server is each session's own: its commands have that session's environment and life."""

from __future__ import annotations

from contextlib import ExitStack
from contextlib import suppress as passing
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.harness import find_leftovers
from tests.agents.served_codex import serve_codex
from tests.integration.harness import PATIENCE
from tests.waiting import wait_until

HELD = 3 * PATIENCE
"""Seconds for which the service may hold a prompt, and then wait for what comes of it."""


class CodexServerProcessTests(SynchronousTestCase):
    """Two sessions of one home."""

    def setUp(self) -> None:
        held = ExitStack()
        self.addCleanup(held.close)
        self.world, self.daemon = held.enter_context(serve_codex())
        self.work = self.world.place.work

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None, patience=HELD).data()

    def begin(self, mark: str) -> str:
        session = self.call(
            "POST",
            "/api/sessions",
            mode="codex",
            workingDir=str(self.work),
            envOverrides={"OPENAI_MARK": mark},
            start=True,
        )["session"]
        return str(session["id"])

    def prompt(self, session: str, text: str, **how: Any) -> None:
        path = f"/api/sessions/{session}/input"
        found = self.call("POST", path, input=f"{text}\r", **how)
        self.assertFalse("wait" in how and found["wait"]["timedOut"], text)

    def run_command(self, session: str, command: str) -> None:
        """Have the agent run a command, and allow it."""
        self.prompt(session, f"RUN: {command}", wait="blocked", waitTimeout=60_000)
        self.call("POST", f"/api/sessions/{session}/send-key", key="Enter")

    def told_by(self, session: str) -> str:
        """What a command of the session knows of it."""
        made = self.work / f"{session}.txt"
        self.run_command(session, f"echo $OPENAI_MARK $SERVICE_SESSION_ID > {made.name}")
        wait_until("its file", made.exists, told=lambda: self.screen(session))
        wait_until("its end", lambda: self.record(session)["status"] == "idle")
        return made.read_text()

    def record(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/api/sessions/{session}")
        return found

    def screen(self, session: str) -> str:
        return str(self.call("GET", f"/api/sessions/{session}/terminal")["terminalBuffer"])

    def commands(self) -> list[bytes]:
        """What runs in this home: the agent, its servers, and the shells of its commands."""
        found = []
        for process in find_leftovers(self.world.place.home):
            with passing(OSError):  # it is over
                found.append(Path(f"/proc/{process}/cmdline").read_bytes())
        return [each for each in found if b"codex" in each or b"outlived" in each]

    def runs(self) -> bool:
        return any(b"outlived" in each for each in self.commands())

    def test_codex_server_has_environment_and_end_of_each_session(self) -> None:
        first = self.begin("A")
        self.prompt(first, "SAY: ready", wait="stop", waitTimeout=60_000)
        second = self.begin("B")
        self.assertEqual(f"B {second}\n", self.told_by(second))
        self.assertEqual(f"A {first}\n", self.told_by(first))

        self.run_command(first, "sleep 300; touch outlived.txt")
        wait_until("the command", self.runs)
        self.call("DELETE", f"/api/sessions/{first}")
        wait_until("the command's end", lambda: not self.runs())
        self.prompt(second, "SAY: still here", wait="stop", waitTimeout=60_000)
        self.call("DELETE", f"/api/sessions/{second}")
        wait_until("nothing of it", lambda: not self.commands())
        self.assertFalse((self.work / "outlived.txt").exists())
