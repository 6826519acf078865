"""The MCP server in the hands of the real CLIs: each starts a shell, runs a command and reads it.

Without their screens, for what is looked at is the protocol: one call of each, whose model says
which tools to use, one after the other.  All of them drive one daemon.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from attrs import field, frozen
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES, RunLocation
from tests.integration.harness import PATIENCE, ROOT, DaemonHarness
from tests.integration.tsctl import TSCTL

HELD = 4 * PATIENCE
"""Seconds for a client to come up and take all steps, on a busy machine."""
SERVER = (*TSCTL, "mcp")


def _prompt(cli: str) -> str:
    steps = [
        ["new_session", {"mode": "shell", "name": f"made by {cli}"}],
        ["send_input", {"sessionId": "$id", "text": "echo sum-$((40 + 2)); PS1=do''ne-"}],
        ["wait_output", {"sessionId": "$id", "match": "done-"}],
        ["read_screen", {"sessionId": "$id"}],
    ]
    return f"Use your tools.\nSTEPS: {json.dumps(steps)}\nLOOK: sum-\n"


def _changed(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def _claude(place: RunLocation, env: Mapping[str, str]) -> None:
    server = {"type": "stdio", "command": SERVER[0], "args": SERVER[1:], "env": dict(env)}
    _changed(place.home / ".claude.json", lambda it: it.update(mcpServers={"tservice": server}))


def _codex(place: RunLocation, env: Mapping[str, str]) -> None:
    lines = [
        "[mcp_servers.tservice]",
        f"command = {json.dumps(SERVER[0])}",
        f"args = {json.dumps(SERVER[1:])}",
        "required = true",  # it begins a turn before its servers have answered otherwise
        "startup_timeout_sec = 120",
        'default_tools_approval_mode = "approve"',
        "[mcp_servers.tservice.env]",
        *(f"{name} = {json.dumps(value)}" for name, value in env.items()),
    ]
    with (place.home / ".codex" / "config.toml").open("a") as file:
        file.write("\n".join(lines) + "\n")


def _gemini(place: RunLocation, env: Mapping[str, str]) -> None:
    # This one by HTTP, which takes no program.
    server = {"httpUrl": f"{env['TSCTL_URL']}/mcp", "trust": True}
    settings = place.home / ".gemini" / "settings.json"
    _changed(settings, lambda it: it.update(mcpServers={"tservice": server}))


def _opencode(place: RunLocation, env: Mapping[str, str]) -> None:
    server = {"type": "local", "command": list(SERVER), "environment": dict(env), "enabled": True}
    config = place.home / ".config" / "opencode" / "opencode.json"
    _changed(config, lambda it: it.update(mcp={"tservice": server}))


@frozen(kw_only=True)
class McpClientRecipe:
    """How one client is told of a server, and asked without a screen."""

    configure: Callable[[RunLocation, Mapping[str, str]], None]
    words: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict)


WAYS = {
    "claude": McpClientRecipe(
        configure=_claude,
        words=("-p", "--allowedTools", "mcp__tservice", "--"),
        env={"MCP_CONNECTION_NONBLOCKING": "0", "MCP_TIMEOUT": "120000"},
    ),
    "codex": McpClientRecipe(configure=_codex, words=("exec", "--skip-git-repo-check")),
    "gemini": McpClientRecipe(configure=_gemini, words=("--yolo", "-p")),
    "opencode": McpClientRecipe(configure=_opencode, words=("run",)),
}


class McpClientTests(SynchronousTestCase):
    held: ClassVar[ExitStack]
    daemon: ClassVar[DaemonHarness]
    isolated: ClassVar[bool]

    @classmethod
    def setUpClass(cls) -> None:
        for cli in WAYS:
            try:
                install_cli(cli, os.environ)  # before the network ends
            except CliUnavailable as error:
                if skip_reason(error, cli) is None:
                    raise
        cls.held = ExitStack()
        cls.isolated = cls.held.enter_context(loopback_only())
        cls.daemon = DaemonHarness()
        cls.held.callback(cls.daemon.close)
        cls.daemon.start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.held.close()

    def drive(self, cli: str) -> None:
        """One call of the client, and what came of it."""
        try:
            binary = install_cli(cli, os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, cli)
            raise SkipTest(reason) if reason else error from error
        with ExitStack() as held:
            folder = held.enter_context(
                tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
            )
            world = held.enter_context(
                AgentEnvironmentHarness(cli, Path(folder), isolated=self.isolated)
            )
            way, place = WAYS[cli], world.place
            launch = RECIPES[cli](place, trusted=True)
            way.configure(place, {"TSCTL_URL": self.daemon.url, "PYTHONPATH": str(ROOT)})
            ended = subprocess.run(
                [str(binary), *launch.arguments, *way.words, _prompt(cli)],
                cwd=place.work,
                env={**world.env(), **launch.env, **way.env},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=HELD,
                check=False,
            )
        said = f"{ended.stdout[-3000:]}{ended.stderr[-3000:]}"
        self.assertIn("It shows sum-42", ended.stdout, said)
        sessions = self.daemon.request("GET", "/api/sessions").data()
        one = next(each for each in sessions if each["name"] == f"made by {cli}")
        self.assertEqual("shell", one["mode"])
        self.daemon.request("DELETE", f"/api/sessions/{one['id']}").data()

    def test_claude_calls_the_mcp_server(self) -> None:
        self.drive("claude")

    def test_codex_calls_the_mcp_server(self) -> None:
        self.drive("codex")

    def test_gemini_calls_the_mcp_server(self) -> None:
        self.drive("gemini")

    def test_opencode_calls_the_mcp_server(self) -> None:
        self.drive("opencode")
