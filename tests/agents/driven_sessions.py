"""Claude Code, real or played, in the real daemon, driven over HTTP as its users drive it."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli, install_version
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.mock_tui.log import read_turns
from tests.agents.mock_tui.scenario import VARIABLE, MockScenario
from tests.agents.mocks import install_mock, scenario_env
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.agents.stub.record import ModelTurn
from tests.integration.harness import PATIENCE, DaemonHarness

if TYPE_CHECKING:
    Case = SynchronousTestCase
else:
    Case = object  # the parts must not be collected


HELD = 3 * PATIENCE
"""Seconds for which the service may hold a prompt, and then wait for what comes of it."""


class DrivenSessionCase(Case):
    """One daemon, one folder that nobody trusts yet, one session of mode primary.

    @cvar params: of the session.
    """

    params: Mapping[str, Any] = {}

    daemon: DaemonHarness
    session: str
    work: Path

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None, patience=HELD).data()

    def begin(self, **environment: str) -> None:
        """Start the session."""
        fields: dict[str, Any] = {"envOverrides": environment} if environment else {}
        self.session = self.call(
            "POST",
            "/api/sessions",
            mode="primary",
            workingDir=str(self.work),
            start=True,
            params=dict(self.params),
            **fields,
        )["session"]["id"]

    def turns(self) -> list[ModelTurn]:
        """The turns so far, by who answered them."""
        raise NotImplementedError

    def release(self, gate: str) -> None:
        """Let a held answer go on."""
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        """The session."""
        found: dict[str, Any] = self.call("GET", f"/api/sessions/{self.session}")
        return found

    def screen(self) -> str:
        """What the terminal shows, less its colours."""
        path = f"/api/sessions/{self.session}/terminal"
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.call("GET", path)["terminalBuffer"])

    def type(self, text: str) -> None:
        """Send a prompt, and go on once it was typed."""
        self.call("POST", f"/api/sessions/{self.session}/input", input=text + "\r")

    def key(self, name: str) -> None:
        """Press a key in the terminal."""
        self.call("POST", f"/api/sessions/{self.session}/send-key", key=name)

    def prompt(self, text: str, wait: str = "stop", **more: Any) -> dict[str, Any]:
        """Send a prompt and hold until a signal."""
        body = {"input": text + "\r", "wait": wait, "waitTimeout": 60_000, **more}
        try:
            found: dict[str, Any] = self.call("POST", f"/api/sessions/{self.session}/input", **body)
        except TimeoutError:
            record = self.record()
            known = f"{record['status']} ({record.get('statusReason')}); {len(self.turns())} turns"
            self.fail(f"no answer to {text[:60]!r}; {known}; the screen is\n{self.screen()}")
        self.assertFalse(found["wait"]["timedOut"], text)
        return found

    def until(self, what: str, look: Callable[[], Any]) -> Any:
        """What C{look} finds, once it finds something."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"never: {what}; the screen is\n{self.screen()}")

    def until_idle(self) -> None:
        """The turn is over."""
        self.until("the end of the turn", lambda: self.record()["status"] == "idle")

    def pending(self) -> list[dict[str, Any]]:
        """The inbox."""
        found: list[dict[str, Any]] = self.call("GET", "/api/approvals")["approvals"]
        return found

    def approval(self) -> dict[str, Any]:
        """The pending item, once its options were read."""

        def look() -> dict[str, Any] | None:
            items = self.pending()
            return items[0] if items and items[0].get("options") else None

        found: dict[str, Any] = self.until("an approval", look)
        return found

    def answer(self, item: dict[str, Any], **how: Any) -> None:
        """Answer what the item shows."""
        self.daemon.answer_item(item, **how).data()


def read_answers_on_disk(home: Path) -> str:
    """What Claude Code's own files have of the model's words, one whole row each.

    It writes them behind the answer; what is not there yet is lost when it is ended.
    """
    files = (home / ".claude" / "projects").rglob("*.jsonl")
    rows = [row for file in files for row in file.read_text("utf-8").split("\n")[:-1]]
    return "\n".join(row for row in rows if json.loads(row).get("type") == "assistant")


class RealClaude(DrivenSessionCase):
    """The CLI from the cache, against the stub model.

    @cvar service: makes the daemon.
    @cvar version: the CLI's exact version; the one of the cache where it is L{None}.
    """

    service: type[DaemonHarness] = DaemonHarness
    version: str | None = None

    def setUp(self) -> None:
        try:
            if self.version is None:
                binary = install_cli("claude", os.environ).binary
            else:
                binary = install_version("claude", self.version, os.environ).binary
        except CliUnavailable as why:
            reason = skip_reason(why, "claude")
            if reason is None:
                raise
            raise SkipTest(reason) from why
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        # What is killed may still make a last file.
        made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        folder = held.enter_context(made)
        self.world = held.enter_context(
            AgentEnvironmentHarness("claude", Path(folder), isolated=isolated)
        )
        self.work = self.world.place.work
        launch = RECIPES["claude"](self.world.place, trusted=False)
        self.daemon = self.service(PATH=f"{binary.parent}:{os.environ['PATH']}")
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        self.daemon.start()
        self.begin(**launch.env)

    def turns(self) -> list[ModelTurn]:
        return list(self.world.stub.turns())

    def release(self, gate: str) -> None:
        self.world.stub.release(gate)

    def until_on_disk(self, words: str) -> None:
        """The model's words are in the conversation's file."""
        home = self.world.place.home
        self.until("the conversation on disk", lambda: words in read_answers_on_disk(home))


class PlayedClaude(DrivenSessionCase):
    """The mock, which keeps its own record."""

    def setUp(self) -> None:
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        folder = self.daemon.folder
        self.work, self._gates = folder / "work", folder / "gates"
        self._record = folder / "turns.json"
        for each in (self.work, self._gates):
            each.mkdir()
        install_mock(folder / "bin", "claude")
        scenario = MockScenario(gates=str(self._gates), record=str(self._record))
        self.daemon.environment |= {
            **scenario_env(folder / "scenario.json", scenario),
            "SERVICE_PANE_ENV": VARIABLE,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }
        self.daemon.start()
        self.begin()

    def turns(self) -> list[ModelTurn]:
        return read_turns(self._record)

    def release(self, gate: str) -> None:
        (self._gates / gate).touch()
