"""Variables that make the real CLIs run a program, with the grant and without it.

The first half of each test is the control: what is refused does run a program, before anybody was
asked anything, so the refusal is worth something.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.integration.harness import PATIENCE, DaemonHarness
from tests.waiting import wait_until

PASSWORD = "correct horse"
HELD = 3 * PATIENCE
"""Seconds for a client to come up and to run what it is told, on a busy machine."""


class LiveGrantTests(SynchronousTestCase):
    """C{ann} has the grant, C{kim} has not."""

    def begin(self, cli: str) -> None:
        try:
            binary = install_cli(cli, os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, cli)
            raise SkipTest(reason) if reason else error from error
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        self.folder = Path(
            held.enter_context(
                tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
            )
        )
        world = held.enter_context(AgentEnvironmentHarness(cli, self.folder, isolated=isolated))
        self.marker = self.folder / "owned"
        self.daemon = DaemonHarness(
            PATH=f"{binary.parent}:{os.environ['PATH']}",
            SERVICE_MULTIUSER="1",
            SERVICE_USERNAME="root",
            SERVICE_PASSWORD=PASSWORD,
        )
        held.callback(self.daemon.close)
        self.daemon.home = world.place.home
        self.env = dict(RECIPES[cli](world.place, trusted=False).env)
        self.daemon.start()
        for name, granted in (("ann", True), ("kim", False)):
            body = {"username": name, "password": PASSWORD, "canBypassPermissions": granted}
            self.ask("root", "POST", "/api/admin/users", body)

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Any:
        word = base64.b64encode(f"{who}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {word}"}
        answer = self.daemon.request(method, path, body, headers, patience=HELD)
        return answer.json()

    def walk(self, mode: str, name: str, value: str, **needed: str) -> None:
        """C{name} runs the marker's command for ann, and is refused to kim."""
        refused = self.launch("kim", mode, {name: value})
        self.assertEqual("FORBIDDEN", refused.get("errorCode"), refused)
        self.assertIn(name, refused["error"])
        self.assertFalse(self.marker.exists())
        made = self.launch("ann", mode, {**self.env, **needed, name: value})
        session = made["data"]["sessionId"]
        path = f"/api/sessions/{session}/terminal"
        wait_until(
            "what the variable names",
            self.marker.exists,
            patience=HELD,
            told=lambda: self.ask("ann", "GET", path),
        )

    def launch(self, who: str, mode: str, env: Mapping[str, str]) -> Any:
        body = {"mode": mode, "envOverrides": env}
        return self.ask(who, "POST", "/api/quick-start", body)

    def touch(self) -> dict[str, Any]:
        return {"command": "touch", "args": [str(self.marker)]}

    def prompt(self, who: str, mode: str, text: str) -> Any:
        env = self.env if who == "ann" else {}
        made = self.launch(who, mode, env)["data"]["sessionId"]
        return self.ask(who, "POST", f"/api/sessions/{made}/input", {"input": text})

    def test_prompt_that_is_a_command_in_claude(self) -> None:
        self.begin("claude")
        text = f"! touch {self.marker}\r"
        refused = self.prompt("kim", "primary", text)
        self.assertEqual("FORBIDDEN", refused.get("errorCode"), refused)
        self.assertFalse(self.marker.exists())
        self.prompt("ann", "primary", text)
        wait_until("what the prompt names", self.marker.exists, patience=HELD)

    def test_opencode_config_variable_needs_the_grant(self) -> None:
        self.begin("opencode")
        server = {"type": "local", "command": ["touch", str(self.marker)], "enabled": True}
        self.walk("opencode", "OPENCODE_CONFIG_CONTENT", json.dumps({"mcp": {"m": server}}))

    def test_claude_config_folder_needs_the_grant(self) -> None:
        """A folder of its own with a hook; the folder's trust dialog is answered by the service."""
        self.begin("claude")
        config = self.folder / "config"
        config.mkdir()
        hook = {"type": "command", "command": f"touch {self.marker}"}
        settings = {"hooks": {"SessionStart": [{"hooks": [hook]}]}}
        (config / "settings.json").write_text(json.dumps(settings), "utf-8")
        state = (self.daemon.home / ".claude.json").read_text("utf-8")
        (config / ".claude.json").write_text(state, "utf-8")
        self.walk("primary", "CLAUDE_CONFIG_DIR", str(config))

    def test_gemini_home_folder_needs_the_grant(self) -> None:
        self.begin("gemini")
        own = json.loads((self.daemon.home / ".gemini/settings.json").read_text("utf-8"))
        home = self.folder / "gemini"
        (home / ".gemini").mkdir(parents=True)
        settings = {**own, "mcpServers": {"m": self.touch()}}
        (home / ".gemini/settings.json").write_text(json.dumps(settings), "utf-8")
        self.walk("gemini", "GEMINI_CLI_HOME", str(home), GEMINI_CLI_TRUST_WORKSPACE="true")

    def test_codex_home_folder_needs_the_grant(self) -> None:
        self.begin("codex")
        home = self.folder / "codex"
        home.mkdir()
        config = (self.daemon.home / ".codex/config.toml").read_text("utf-8")
        server = f'[mcp_servers.m]\ncommand = "touch"\nargs = ["{self.marker}"]\n'
        (home / "config.toml").write_text(f"{config}{server}", "utf-8")
        del self.env["STUB_KEY"]
        self.walk("codex", "CODEX_HOME", str(home))
