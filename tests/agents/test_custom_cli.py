"""A CLI without a stock entry (qwen, the real one), added and described over HTTP."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import KEY
from tests.integration.harness import PATIENCE, DaemonHarness
from tests.waiting import wait_until

HELD = 3 * PATIENCE
WAIT = 60_000
PLAIN = {"label": "Qwen", "shortBadge": "QW", "binaries": ["qwen"], "argv": ["qwen"]}
"""What the form of the page sends."""

CAPABILITIES = {
    "composerShape": "framed",
    "composerReadyMark": "Type your message",
    "promptGlyph": ">",
    "workingLine": r"^ ?[\u2800-\u28ff] .*\([^)]*esc to cancel",
    "screenSignals": True,
    "submission": {"continues": "\\", "commands": "/"},
}


@pytest.mark.long
class CustomCliTests(SynchronousTestCase):
    """The composer of qwen stands between two rules."""

    def setUp(self) -> None:
        try:
            binary = install_cli("qwen", os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, "qwen")
            raise SkipTest(reason) if reason else error from error
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        self.world = held.enter_context(
            AgentEnvironmentHarness("qwen", Path(held.enter_context(made)), isolated=isolated)
        )
        self.configure(self.world.place.home)
        self.daemon = DaemonHarness(PATH=f"{binary.parent}:{os.environ['PATH']}")
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        self.daemon.start()
        self.call("PUT", "/api/settings", cliManagementEnabled=True)

    def configure(self, home: Path) -> None:
        settings = {
            "security": {"auth": {"selectedType": "openai"}},
            "model": {"name": "stub-model"},
            "general": {"enableAutoUpdate": False},
            "ui": {"enableFollowupSuggestions": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        (home / ".qwen").mkdir(parents=True)
        (home / ".qwen" / "settings.json").write_text(json.dumps(settings))

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None, patience=HELD).data()

    def begin(self) -> None:
        url = f"{self.world.place.url}/v1"
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url, "OPENAI_MODEL": "stub-model"}
        self.path = (
            "/api/sessions/"
            + self.call(
                "POST",
                "/api/sessions",
                mode="own-qwen",
                workingDir=str(self.world.place.work),
                envOverrides=env,
                start=True,
            )["session"]["id"]
        )
        self.until("its composer", lambda: "Type your message" in self.screen())

    def screen(self) -> str:
        return str(self.call("GET", f"{self.path}/terminal")["terminalBuffer"])

    def until(self, what: str, look: Any) -> Any:
        return wait_until(what, look, told=self.screen)

    def test_cli_without_capabilities_takes_prompts(self) -> None:
        env = {"allowedPrefixes": ["OPENAI_"]}
        self.call("POST", "/api/clis", id="own-qwen", **PLAIN, env=env)
        self.begin()
        found = self.call("POST", f"{self.path}/input", input="SAY: first\r")
        self.assertTrue(found["delivered"])
        self.until("its answer", lambda: self.screen().count("first") > 1)
        self.call("POST", f"{self.path}/input", input="SAY: second\r")
        self.until("the next answer", lambda: self.screen().count("second") > 1)

    def test_cli_with_capabilities_has_status_waits_and_approvals(self) -> None:
        env = {"allowedPrefixes": ["OPENAI_"]}
        more = {"env": env, "capabilities": CAPABILITIES}
        self.call("POST", "/api/clis", id="own-qwen", **PLAIN, **more)
        self.begin()
        for text in ("SAY: first", "SLOW: 2"):
            found = self.call(
                "POST", f"{self.path}/input", input=f"{text}\r", wait="stop", waitTimeout=WAIT
            )
            self.assertEqual("stop", found["wait"]["signal"], self.screen())
        body = {"input": "RUN: touch made\r", "wait": "blocked", "waitTimeout": WAIT}
        found = self.call("POST", f"{self.path}/input", **body)
        self.assertEqual("blocked", found["wait"]["signal"], self.screen())
        (item,) = self.call("GET", "/api/approvals")["approvals"]
        self.daemon.answer_item(item, action="approve").data()
        self.until("the file", (self.world.place.work / "made").exists)
