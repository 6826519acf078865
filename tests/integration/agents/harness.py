"""The real daemon with every agent played: what the tests of their layouts stand on."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from attrs import asdict

from tests.agents.mock_tui.log import read_turns
from tests.agents.mock_tui.scenario import VARIABLE, MockScenario
from tests.agents.mocks import install_mock
from tests.agents.stub.record import ModelTurn
from tests.integration.harness import PATIENCE, DaemonHarness

FAMILIES = ("claude", "codex", "gemini", "opencode", "pi")
SCENARIO = "scenario.json"
"""Named without a folder, so that each session reads the one of its own folder."""

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]")
_OPTION = re.compile(r"[\s│┃]*(?:[❯›●] )?(\d)\. (?:\[.\] )?(.*?)(?: {2,}.*)?\s*[│┃]?\s*")


def played_daemon() -> DaemonHarness:
    """A daemon, not started, that finds the mocks; to be closed by the caller."""
    daemon = DaemonHarness()
    folder = daemon.folder / "bin"
    for family in FAMILIES:
        install_mock(folder, family)
    daemon.environment |= {
        "PATH": f"{folder}:{os.environ['PATH']}",
        VARIABLE: SCENARIO,
        "SERVICE_PANE_ENV": VARIABLE,
    }
    return daemon


class PlayedSession:
    """One session of a played agent, in a folder of its own."""

    def __init__(
        self, daemon: DaemonHarness, mode: str, scenario: MockScenario, **fields: Any
    ) -> None:
        self._daemon = daemon
        self.work = daemon.folder / "work" / f"{mode}-{time.monotonic_ns()}"
        (self.work / "gates").mkdir(parents=True)
        (self.work / SCENARIO).write_text(json.dumps(asdict(scenario)), "utf-8")
        body = {"mode": mode, "workingDir": str(self.work), "start": True, **fields}
        self.id: str = self.call("POST", "/api/sessions", **body)["session"]["id"]
        self.path = f"/api/sessions/{self.id}"

    def call(self, method: str, path: str, **body: Any) -> Any:
        """One request; the payload of its answer."""
        return self._daemon.request(method, path, body or None, patience=2 * PATIENCE).data()

    def record(self) -> dict[str, Any]:
        """The session as the API shows it."""
        found: dict[str, Any] = self.call("GET", self.path)
        return found

    def prompt(self, text: str, wait: str = "") -> dict[str, Any]:
        """Send a prompt; with C{wait}, hold until a signal."""
        how = {"wait": wait, "waitTimeout": round(PATIENCE * 1000)} if wait else {}
        found: dict[str, Any] = self.call("POST", f"{self.path}/input", input=f"{text}\r", **how)
        if wait:
            assert not found["wait"]["timedOut"], f"{text}: {found}\n{self.screen()}"
        return found

    def end_recorded_turn(self, count: int) -> int:
        """Let the agent end a turn, and return its time once that many turns are recorded."""
        self.prompt("SAY: done", wait="stop")
        self.until("the turn is recorded", lambda: len(self.list_turns()) == count)
        return self.list_turns()[0]

    def list_turns(self) -> list[int]:
        """The recorded ends of turns, latest first."""
        return [each["at"] for each in self.call("GET", f"{self.path}/changes/base")["turns"]]

    def refused(self, text: str) -> str:
        """Why a prompt that the service does not type is refused."""
        answer = self._daemon.request("POST", f"{self.path}/input", {"input": f"{text}\r"})
        assert answer.status == 422, answer
        return str(answer.json()["error"])

    def press(self, *keys: str) -> None:
        """Press keys, each behind what the one before it drew, colours included."""
        for key in keys:
            before = self._styled()
            self.call("POST", f"{self.path}/send-key", key=key)
            self.until(f"an effect of {key}", partial(self._differs, before))

    def _differs(self, before: str) -> bool:
        return self._styled() != before

    def item(self) -> dict[str, Any]:
        """The session's pending approval, once it was read from the screen."""

        def look() -> dict[str, Any] | None:
            return next((item for item in self.items() if item.get("context")), None)

        found: dict[str, Any] = self.until("an approval", look)
        return found

    def items(self) -> list[dict[str, Any]]:
        """The session's pending approvals: one or none."""
        found = self.call("GET", "/api/approvals")["approvals"]
        return [item for item in found if item["sessionId"] == self.id]

    def answer(self, item: dict[str, Any], **how: Any) -> None:
        """Answer an approval."""
        self._daemon.answer_item(item, **how).data()

    def screen(self) -> str:
        """The screen's text."""
        return _STYLE.sub("", self._styled())

    def _styled(self) -> str:
        return str(self.call("GET", f"{self.path}/terminal")["terminalBuffer"])

    def options(self) -> list[str]:
        """The options that a person reads on the screen, top to bottom."""
        last: list[str] = []
        for row in self.screen().splitlines():
            found = _OPTION.fullmatch(row)
            if found and int(found[1]) == 1:
                last = []
            if found and int(found[1]) == len(last) + 1:
                last.append(found[2])
        return last

    def turns(self) -> list[ModelTurn]:
        """The agent's own record."""
        return read_turns(self.work / "turns.json")

    def release(self, gate: str) -> None:
        """Let a held answer go on."""
        (self.work / "gates" / gate).touch()

    def rests(self) -> dict[str, Any]:
        """The record, once the session is idle and nothing waits."""
        self.until("rest", lambda: self.record()["status"] == "idle" and not self.items())
        return self.record()

    def reason(self, begins: str) -> dict[str, Any]:
        """The record, once its status has such a reason."""
        self.until(begins, lambda: str(self.record()["statusReason"]).startswith(begins))
        return self.record()

    def until(self, what: str, look: Callable[[], Any]) -> Any:
        """What C{look} finds, asked again and again.

        @raise AssertionError: nothing, for too long; with the screen.
        """
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.05)
        why = self.record()["statusReason"]
        raise AssertionError(f"never: {what}; {why}; the screen is\n{self.screen()}")

    def made(self, name: str) -> Path:
        """A file of the working folder."""
        return self.work / name

    def end(self) -> None:
        """Delete the session."""
        self.call("DELETE", self.path)
