"""A prompt whose Enter is lost by a real CLI that answers no key for its caret: it blocks nothing.

The CLI runs behind a sieve that lets neither come through until a gate opens.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.key_filter import install_sieve
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.integration.harness import PATIENCE, DaemonHarness, name_pane_variables
from tests.waiting import wait_until

HELD = 4 * PATIENCE
LOST = "SAY: one row of it\nand another one\nand the last"
NEXT = "SAY: next"
PARAMS: Mapping[str, Mapping[str, str]] = {
    "gemini": {"model": "gemini-2.5-pro"},
    "pi": {"provider": "stub", "model": "stub-model"},
}


@pytest.mark.long(minutes=6)
class LostEnterTests(SynchronousTestCase):
    """One daemon and one session for each CLI."""

    def begin(self, cli: str) -> None:
        try:
            binary = install_cli(cli, os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, cli)
            raise SkipTest(reason) if reason else error from error
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        folder = held.enter_context(
            tempfile.TemporaryDirectory(prefix="tw-", dir="/tmp", ignore_cleanup_errors=True)
        )
        self.world = held.enter_context(
            AgentEnvironmentHarness(cli, Path(folder), isolated=isolated)
        )
        self.world.make_git()
        self.gate = Path(folder) / "open"
        install_sieve(Path(folder) / "sieve", self.gate, binary)
        path = f"{folder}/sieve:{binary.parent}:{os.environ['PATH']}"
        launch = RECIPES[cli](self.world.place, trusted=True)
        names = name_pane_variables(*launch.env)
        self.daemon = DaemonHarness(**{**launch.env, "PATH": path, "SERVICE_PANE_ENV": names})
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        self.daemon.start()
        body = {
            "mode": "primary" if cli == "claude" else cli,
            "workingDir": str(self.world.place.work),
            "params": dict(PARAMS.get(cli, {})),
            "start": True,
        }
        made = self.daemon.request("POST", "/api/sessions", body, patience=HELD).data()["session"]
        self.path = f"/api/sessions/{made['id']}"

    def input(self, text: str) -> tuple[int, dict[str, Any]]:
        body = {"input": f"{text}\r"}
        answer = self.daemon.request("POST", f"{self.path}/input", body, patience=HELD)
        return answer.status, answer.json()

    def screen(self) -> str:
        found = self.daemon.request("GET", f"{self.path}/terminal").data()
        return str(found["terminalBuffer"])

    def check(self, cli: str) -> None:
        self.begin(cli)
        status, answer = self.input(LOST)
        self.assertEqual(422, status, f"{answer}\n{self.screen()}")
        self.assertIn("not sure", answer["error"])
        self.daemon.restart(number=9)
        self.gate.touch()
        status, answer = self.input(NEXT)
        self.assertEqual(200, status, f"{answer}\n{self.screen()}")
        self.assertEqual({"delivered": True, "putAside": True}, answer["data"])
        said = self.world.stub.conversation
        wait_until(
            "the next one", lambda: said()[-1:] == [NEXT], told=lambda: f"{said()}{self.screen()}"
        )
        self.assertNotIn(LOST, said())

    def test_claude_prompt_survives_a_lost_enter(self) -> None:
        self.check("claude")

    def test_codex_prompt_survives_a_lost_enter(self) -> None:
        self.check("codex")

    def test_gemini_prompt_survives_a_lost_enter(self) -> None:
        self.check("gemini")

    def test_opencode_prompt_survives_a_lost_enter(self) -> None:
        self.check("opencode")

    def test_pi_prompt_survives_a_lost_enter(self) -> None:
        self.check("pi")
