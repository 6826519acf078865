"""CLIs that need an account: the real ones start in the daemon, show a page, take keys and end."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.netns import loopback_only
from tests.integration.harness import DaemonHarness, wait_until_gone
from tests.waiting import wait_until

PAGES = {
    "cline": "Connect a model provider",
    "cn": "Enter your Anthropic API key",
    "amp": "log in to Amp",
    "auggie": "Login to continue",
}
"""What each shows first in an empty home."""


@pytest.mark.long
class FirstPageTests(SynchronousTestCase):
    """Nothing else can be tried without an account."""

    def start(self, cli: str) -> None:
        try:
            binary = install_cli(cli, os.environ).binary
        except CliUnavailable as error:
            reason = skip_reason(error, cli)
            raise SkipTest(reason) if reason else error from error
        held = ExitStack()
        self.addCleanup(held.close)
        held.enter_context(loopback_only())
        made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        folder = Path(held.enter_context(made))
        self.daemon = DaemonHarness(PATH=f"{binary.parent}:{os.environ['PATH']}")
        held.callback(self.daemon.close)
        self.daemon.home = folder
        self.daemon.start()
        created = self.call("POST", "/api/sessions", mode=cli, workingDir=str(folder), start=True)
        self.path = f"/api/sessions/{created['session']['id']}"

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None).data()

    def screen(self) -> str:
        return str(self.call("GET", f"{self.path}/terminal")["terminalBuffer"])

    def check(self, cli: str) -> None:
        self.start(cli)
        wait_until("its first page", lambda: PAGES[cli] in self.screen(), told=self.screen)
        pid = self.call("GET", self.path)["pid"]
        self.call("POST", f"{self.path}/send-key", key="Up")
        self.call("DELETE", self.path)
        wait_until_gone(pid)

    def test_cline_starts_and_ends(self) -> None:
        self.check("cline")

    def test_cn_starts_and_ends(self) -> None:
        self.check("cn")

    def test_amp_starts_and_ends(self) -> None:
        self.check("amp")

    def test_auggie_starts_and_ends(self) -> None:
        self.check("auggie")
