"""What the real CLIs list after a sync by the real daemon, each offline in one home."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CachedCliProgram, CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import base_env
from tests.agents.netns import loopback_only
from tests.integration.harness import DaemonHarness
from tests.run_figures import report_figure

CLIS = ("claude", "codex", "gemini", "opencode")
PATIENCE = 120.0
"""Seconds that C{mcp list} may take: it tries to reach every server."""

GEMINI = """\
{
  // a server of each kind
  "mcpServers": {
    "from-gemini": {"command": "/bin/true", "args": ["-x", "two words"], "env": {"KEY": "V"}},
    "at-url": {"url": "http://127.0.0.1:9/mcp", "type": "http", "headers": {"X-A": "1"}}
  }
}
"""
CODEX = """\
model = "stub"  # mine
mcp_servers.dotted.command = "/bin/false"

[mcp_servers.plain]
command = "/bin/false"
args = ["-p"]
"""
NAMES = {"from-gemini", "at-url", "dotted", "plain"}


class McpServerListTests(SynchronousTestCase):
    """What one has, every one of them lists."""

    def setUp(self) -> None:
        self.found = [self.installed(name) for name in CLIS]
        held = ExitStack()
        self.addCleanup(held.close)
        self.isolated = held.enter_context(loopback_only())
        self.work = Path(
            held.enter_context(
                tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
            )
        )
        folders = [str(one.binary.parent) for one in self.found]
        self.daemon = DaemonHarness(PATH=":".join([*folders, os.environ["PATH"]]))
        held.callback(self.daemon.close)
        self.put(".gemini/settings.json", GEMINI)
        # Gemini CLI connects to nothing in a folder that nobody trusts, and lists nothing then.
        self.put(".gemini/trustedFolders.json", json.dumps({str(self.work): "TRUST_FOLDER"}))
        self.put(".codex/config.toml", CODEX)

    def installed(self, name: str) -> CachedCliProgram:
        try:
            return install_cli(name, os.environ)
        except CliUnavailable as error:
            reason = skip_reason(error, name)
            raise SkipTest(reason) if reason else error from error

    def put(self, name: str, text: str) -> None:
        path = self.daemon.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def listed(self, binary: Path) -> str:
        ended = subprocess.run(
            [str(binary), "mcp", "list"],
            cwd=self.work,
            env=base_env(self.daemon.home, isolated=self.isolated),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            text=True,
        )
        self.assertEqual(0, ended.returncode, ended.stdout)
        return ended.stdout

    def test_every_client_lists_all_servers_after_a_sync(self) -> None:
        (self.daemon.home / "tmp").mkdir()
        self.daemon.start()
        self.daemon.request("PUT", "/api/settings", {"mcpSyncEnabled": True}).data()
        done = self.daemon.request("POST", "/api/mcp-sync").data()
        self.assertEqual(
            {"primary": 4, "opencode": 4, "codex": 2, "gemini": 2},
            {
                target["id"]: len(target["added"])
                for target in done["targets"]
                if target["status"] == "ok"
            },
        )
        for one in self.found:
            words = set(re.findall(r"[a-z][a-z-]+", self.listed(one.binary)))
            self.assertEqual(set(), NAMES - words, one.cli.name)
            report_figure(f"{one.cli.name} {one.version} lists {len(NAMES)} servers")
