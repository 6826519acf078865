"""Timed runs (protocol-legacy), in a real Chromium with a played agent."""

from __future__ import annotations

import json
import os

import pytest
from attrs import asdict
from playwright.sync_api import expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.harness import BrowserCase
from tests.integration.agents.harness import SCENARIO, played_daemon


class TimedRunPageTests(BrowserCase):
    @pytest.mark.essential
    def test_timed_run_is_begun_shown_and_stopped(self) -> None:
        daemon = played_daemon()
        self.addCleanup(daemon.close)
        (daemon.home / SCENARIO).write_text(json.dumps(asdict(MockScenario(trust=False))))
        daemon.start()
        page = self.page(f"{daemon.url}/?page=timed")
        page.get_by_test_id("new-run").click()
        page.get_by_test_id("run-prompt").fill("Raise the coverage")
        page.get_by_test_id("run-folder").fill(str(daemon.home))
        page.get_by_test_id("run-minutes").fill("90")
        page.get_by_test_id("run-begin").click()
        row = page.get_by_test_id("timed-run")
        expect(row).to_contain_text("left of 1 h 30 min")
        expect(row).to_contain_text("1 turn ")
        if (folder := os.environ.get("SCREENSHOTS")) is not None:
            page.screenshot(path=f"{folder}/timed.png")
        (run,) = daemon.request("GET", "/api/scheduled").data()["runs"]
        self.leave(page)
        daemon.restart()
        found = daemon.request("GET", f"/api/scheduled/{run['id']}").data()
        self.assertEqual(("running", run["endAt"]), (found["status"], found["endAt"]))
        page = self.page(f"{daemon.url}/?page=timed")
        page.get_by_test_id("run-stop").click()
        page.get_by_role("button", name="Stop", exact=True).last.click()
        expect(page.get_by_test_id("run-status")).to_have_text("Stopped")
        screen = daemon.request("GET", f"/api/sessions/{run['sessionId']}/terminal").data()
        self.assertEqual(1, screen["terminalBuffer"].count("❯ Raise the coverage"))
