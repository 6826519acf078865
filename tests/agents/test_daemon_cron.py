"""A scheduled job of the real Claude Code, through the real daemon: trust, prompt, turn."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.integration.harness import PATIENCE, DaemonHarness, name_pane_variables

PROMPTS = {"paste": "SAY: pasted by a job", "typed": "SAY: typed by a job"}


class ClaudeJobTests(SynchronousTestCase):
    """One daemon, one folder that nobody trusts yet."""

    def setUp(self) -> None:
        try:
            binary = install_cli("claude", os.environ).binary
        except CliUnavailable as error:
            raise SkipTest(str(error)) from None
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        # What is killed may still make a last file.
        made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        folder = held.enter_context(made)
        self.world = held.enter_context(
            AgentEnvironmentHarness("claude", Path(folder), isolated=isolated)
        )
        launch = RECIPES["claude"](self.world.place, trusted=False)
        names = name_pane_variables(*launch.env)
        path = f"{binary.parent}:{os.environ['PATH']}"
        self.daemon = DaemonHarness(**{**launch.env, "PATH": path, "SERVICE_PANE_ENV": names})
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        self.daemon.start()

    def test_prompt_of_a_job_is_submitted_once(self) -> None:
        for mode, text in PROMPTS.items():
            body = {
                "name": "morning",
                "agentType": "primary",
                "workingDir": str(self.world.place.work),
                "promptMode": "inline_text",
                "promptText": text,
                "inputMode": mode,
                "scheduleType": "once",
                "enabled": True,
                "concurrencyPolicy": "skip_if_same_agent_running",
            }
            run = self.ended(self.made(body))
            self.assertEqual("prompt_sent", run["status"], run)
            self.until_turns(text)
            self.daemon.request("DELETE", f"/api/sessions/{run['sessionId']}").data()
        self.assertEqual([*PROMPTS.values()], [turn.prompt for turn in self.world.stub.turns()])

    def made(self, body: dict[str, object]) -> str:
        """The id of a job that is due soon, also where it takes long to make one."""
        for wait in (500, 5_000, 30_000):
            body["runAt"] = int(time.time() * 1000) + wait
            answer = self.daemon.request("POST", "/api/cron/jobs", body)
            if answer.status != 400:
                break
            self.assertIn("runAt: must be in the future", answer.json()["error"])
        return str(answer.data()["job"]["id"])

    def ended(self, job_id: str) -> dict[str, object]:
        deadline = time.monotonic() + 3 * PATIENCE
        while time.monotonic() < deadline:
            runs = self.daemon.request("GET", f"/api/cron/jobs/{job_id}/runs").data()
            if runs and runs[0]["finishedAt"]:
                found: dict[str, object] = runs[0]
                return found
            time.sleep(0.2)
        raise AssertionError(f"no end: {runs}\n{self.daemon.log}")

    def until_turns(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if any(turn.prompt == text and turn.ended for turn in self.world.stub.turns()):
                return
            time.sleep(0.2)
        raise AssertionError(f"no turn of {text}: {list(self.world.stub.turns())}")
