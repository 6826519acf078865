"""Jobs that keep an agent going, in a real Chromium with a played agent."""

from __future__ import annotations

import json

from attrs import asdict
from playwright.sync_api import expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.cron_page import job_card
from tests.browser.harness import BrowserCase
from tests.integration.agents.harness import SCENARIO, played_daemon


class KeepGoingPageTests(BrowserCase):
    def test_run_that_keeps_going_survives_a_restart_and_is_stopped(self) -> None:
        daemon = played_daemon()
        self.addCleanup(daemon.close)
        (daemon.home / SCENARIO).write_text(json.dumps(asdict(MockScenario(trust=False))))
        daemon.start()
        page = self.page(f"{daemon.url}/?page=cron")
        page.get_by_test_id("cron-new").click()
        page.get_by_test_id("job-name").fill("coverage")
        page.get_by_test_id("job-agentType").select_option("primary")
        page.get_by_test_id("job-workingDir").fill(str(daemon.home))
        page.get_by_test_id("job-promptText").fill("Raise the coverage")
        page.get_by_test_id("job-keepGoingMinutes").fill("90")
        page.get_by_test_id("job-save").click()
        job = job_card(page, "coverage")
        expect(job.get_by_test_id("job-keep-going")).to_have_text("for 1 h 30 min")
        job.get_by_test_id("job-run").click()
        expect(job.get_by_test_id("job-last")).to_contain_text("left of 1 h 30 min, 1 turn")
        (run,) = daemon.request("GET", "/api/cron/runs").data()
        self.leave(page)
        daemon.restart()
        (found,) = daemon.request("GET", "/api/cron/runs").data()
        self.assertEqual("running", found["keepGoing"]["state"])
        self.assertEqual(run["keepGoing"]["endAt"], found["keepGoing"]["endAt"])
        page = self.page(f"{daemon.url}/?page=cron")
        page.get_by_test_id("run-stop").click()
        page.get_by_test_id("ask").get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_test_id("job-last")).to_contain_text("stopped")
        screen = daemon.request("GET", f"/api/sessions/{run['sessionId']}/terminal").data()
        self.assertEqual(1, screen["terminalBuffer"].count("❯ Raise the coverage"))
