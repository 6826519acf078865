"""The first page: from nothing to an agent that answers, and to a password."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from twisted.trial.unittest import SkipTest

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.recipes import RECIPES
from tests.browser.axe import faults_in_both
from tests.browser.harness import (
    PHONE,
    TOO_WIDE,
    BrowserCase,
    PageTerminal,
    wait_until_on_page,
)
from tests.integration.harness import DaemonHarness


def make_repository(folder: Path) -> None:
    """An empty repository."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


class FirstAgentTests(BrowserCase):
    """A real Claude Code that is signed in to the stub model, and no session yet."""

    def setUp(self) -> None:
        super().setUp()
        try:
            binary = install_cli("claude", os.environ).binary
        except CliUnavailable as why:
            reason = skip_reason(why, "claude")
            if reason is None:
                raise
            raise SkipTest(reason) from why
        held = ExitStack()
        self.addCleanup(held.close)
        made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
        self.world = held.enter_context(
            AgentEnvironmentHarness("claude", Path(held.enter_context(made)), isolated=False)
        )
        launch = RECIPES["claude"](self.world.place, trusted=False)
        environment = {**self.world.env(), **launch.env}
        path = f"{binary.parent}:{os.environ['PATH']}"
        self.running = DaemonHarness(**{**environment, "PATH": path})
        held.callback(self.running.close)
        self.running.home = self.world.place.home
        make_repository(self.running.home / "src" / "orchard")

    @pytest.mark.extended
    def test_agent_answers_without_a_typed_path(self) -> None:
        self.running.start()
        page = self.page(self.running.url)
        agent = page.get_by_test_id("first-agent-primary")
        expect(agent.get_by_role("radio")).to_be_checked()
        expect(agent.get_by_test_id("first-sign-in-state")).to_have_text("signed in")
        folder = page.get_by_test_id("first-folder").first
        expect(folder).to_have_attribute("aria-pressed", "true")
        expect(folder).to_contain_text("orchard")
        page.get_by_test_id("first-example").first.click()
        page.get_by_test_id("first-prompt").fill("SAY: the orchard has two trees")
        page.get_by_test_id("first-start").click()
        terminal = PageTerminal(page).ready()
        wait_until_on_page(
            page, "the answer", lambda: terminal.has(r"^[●⏺] the orchard has two trees")
        )


class FirstPageTests(BrowserCase):
    """A page without a session, on a machine without an agent."""

    expected = (r"status of 401",)

    def open(self, daemon: DaemonHarness, **options: object) -> Page:
        page = self.page(daemon.url, **options)  # type: ignore[arg-type]
        page.get_by_test_id("first-run").wait_for()
        return page

    def test_page_offers_installs_and_fits_a_phone(self) -> None:
        daemon = self.daemon()
        make_repository(daemon.home / "a-repository-with-quite-a-long-name-that-has-no-room")
        page = self.open(daemon, **PHONE)
        expect(page.get_by_test_id("first-no-agent")).to_be_visible()
        expect(page.get_by_test_id("first-missing-primary")).to_contain_text("npm install")
        expect(page.get_by_test_id("first-start")).to_be_disabled()
        expect(page.get_by_test_id("first-folder")).to_have_count(1)
        self.assertEqual([], page.evaluate(TOO_WIDE))
        self.assertEqual([], faults_in_both(page))

    def test_password_is_set_and_required_at_once(self) -> None:
        daemon = self.daemon()
        page, other = self.open(daemon), self.open(daemon)
        page.get_by_test_id("first-phone").click()
        expect(page.get_by_test_id("phone-password")).to_have_attribute("data-done", "false")
        page.locator("[name=new]").fill("battery staple")
        page.locator("[name=repeated]").fill("battery staple")
        page.get_by_test_id("password-submit").click()
        expect(page.get_by_test_id("phone-password")).to_have_attribute("data-done", "true")
        expect(page.get_by_test_id("device")).to_have_count(1)
        other.get_by_test_id("login").wait_for()
        other.locator("[name=username]").fill("admin")
        other.locator("[name=password]").fill("battery staple")
        other.get_by_test_id("login-submit").click()
        other.get_by_test_id("first-run").wait_for()
