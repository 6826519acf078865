"""What a session did while nobody looked: the block of the fleet, and the page."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_in_both
from tests.browser.live_agents import PHONE, THUMB, LiveCase
from tests.integration.agents.harness import PlayedSession

CHECK = {"name": "tests", "command": "echo 214 passed", "timeoutSeconds": 60}


class AwayTests(LiveCase):
    """An agent that worked on its own."""

    def work(self, name: str) -> PlayedSession:
        """An agent with two turns, one answer of a rule, one of a person, and green checks."""
        agent = self.agent(name=name)
        body = {"name": name, "path": str(agent.work)}
        self.running.request("POST", "/api/cases/link", body).data()
        agent.call("PUT", f"/api/cases/{name}/checks", checks=[CHECK])
        agent.call(
            "POST", "/api/approval-rules", scope={"sessionId": agent.id}, tool="Bash",
            match={"command": {"pattern": ["touch", "made"]}}, action="allow",
        )  # fmt: skip
        agent.prompt("RUN: touch made", wait="stop")
        agent.prompt("WRITE: notes", wait="blocked")
        agent.answer(agent.item(), action="approve")
        agent.until("the counts", lambda: self.counts(agent) == (2, 2, 1, 1, "green"))
        return agent

    def counts(self, agent: PlayedSession) -> tuple[object, ...]:
        for each in agent.call("GET", "/api/away")["sessions"]:
            if each["id"] == agent.id:
                wanted = ("turns", "answered", "byRule", "files", "checks")
                return tuple(each.get(name) for name in wanted)
        return ()

    def keep_picture(self, page: Page, name: str) -> None:
        if folder := os.environ.get("NOTICE_PICTURES"):
            page.screenshot(path=f"{folder}/{name}.png")

    @pytest.mark.essential
    def test_page_lists_what_a_session_did_and_leads_to_it(self) -> None:
        agent = self.work("api")
        page = self.page(f"{self.running.url}/?page=fleet", viewport={"width": 1440, "height": 900})
        expect(page.get_by_test_id("away-session")).to_contain_text("2 turns · 1 file")
        self.keep_picture(page, "away-block")
        page.get_by_test_id("away-all").click()
        row = page.get_by_test_id("away-row")
        expect(row).to_contain_text("checks green · 2 answers, 1 by rules")
        self.keep_picture(page, "away-desk")
        self.assertEqual([], faults_in_both(page))
        row.get_by_test_id("check-chips").click()
        expect(page.get_by_test_id("check-dialog")).to_contain_text("The checks are green.")
        page.keyboard.press("Escape")
        row.get_by_test_id("away-review").click()
        expect(page.get_by_test_id("page-review")).to_be_visible()
        page.keyboard.press("Control+k")
        page.get_by_test_id("palette-field").fill("overnight recap")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("page-away")).to_be_visible()
        if self.counts(agent):
            page.get_by_test_id("away-open").click()
        agent.until("a look", lambda: not self.counts(agent))

    def test_summary_is_read_and_emptied_on_a_phone(self) -> None:
        self.work("web")
        page = self.page(f"{self.running.url}/?page=fleet", **PHONE)
        page.get_by_test_id("away-all").tap()
        row = page.get_by_test_id("away-row")
        expect(row).to_contain_text("2 turns")
        self.keep_picture(page, "away-phone")
        self.assertEqual([], faults_in_both(page))
        for name in ("away-open", "away-review", "away-page-seen"):
            box = page.get_by_test_id(name).bounding_box()
            assert box is not None
            self.assertGreaterEqual(box["height"], THUMB, name)
            self.assertLessEqual(box["x"] + box["width"], 390, name)
        page.get_by_test_id("away-page-seen").tap()
        expect(page.get_by_test_id("away-page")).to_contain_text("Nothing happened")
        expect(row).to_have_count(0)
        self.keep_picture(page, "away-empty")
