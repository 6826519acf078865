"""Muting a session, and rules of one's own for notices."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, BrowserCase, wait_until_on_page
from tests.browser.session_menus import choose, tab
from tests.integration.harness import DaemonHarness


class NoticeTests(BrowserCase):
    """One session, muted and unmuted, and the rules of its account."""

    def open(self, daemon: DaemonHarness, path: str = "", **options: Any) -> Page:
        return self.page(f"{daemon.url}{path}", **options)

    def rules(self, daemon: DaemonHarness) -> dict[str, Any]:
        found: dict[str, Any] = daemon.request("GET", "/api/notification-rules").data()
        return found

    def keep_picture(self, page: Page, name: str) -> None:
        if folder := os.environ.get("NOTICE_PICTURES"):
            page.screenshot(path=f"{folder}/{name}.png", full_page=True)

    @pytest.mark.essential
    def test_session_is_muted_and_rules_are_set(self) -> None:
        daemon = self.daemon()
        body = {"mode": "shell", "name": "api", "start": True, "workingDir": str(daemon.home)}
        session = daemon.request("POST", "/api/sessions", body).data()["session"]["id"]
        page = self.open(daemon)
        choose(page, session, "Mute notifications", "Until it asks")
        mark = tab(page, session).get_by_test_id("snooze-mark")
        expect(mark).to_have_attribute("aria-label", "Notifications muted until it asks")
        page.reload()
        expect(mark).to_be_visible()
        self.keep_picture(page, "muted")
        choose(page, session, "Mute notifications", "Unmute")
        expect(mark).to_have_count(0)

        page.goto(f"{daemon.url}/?page=settings")
        page.get_by_test_id("settings-nav-notifications").click()
        rules = page.get_by_test_id("notice-rules")
        rules.get_by_role("switch", name="Use my own rules").check()
        rules.get_by_test_id("notice-push-stop").check()
        rules.get_by_role("switch", name=re.compile("^Quiet hours")).check()
        page.get_by_test_id("notice-quiet-start").fill("21:30")
        page.get_by_test_id("notice-add-hook").click()
        page.get_by_test_id("notice-hook-url-1").fill("https://ntfy.example/secret-topic")
        page.get_by_test_id("notice-hook-url-1").blur()
        wait_until_on_page(page, "the rules", lambda: bool(self.rules(daemon)["webhooks"]))
        page.get_by_test_id("notice-urgency-exit").select_option("warning")
        page.get_by_test_id("notice-hook-scope-1").select_option("chosen")
        page.get_by_test_id("notice-hook-1-stop").check()
        wait_until_on_page(
            page,
            "the events",
            lambda: "stop" in (self.rules(daemon)["webhooks"][0]["events"] or ()),
        )
        wait_until_on_page(
            page, "the rules", lambda: self.rules(daemon)["quietHours"]["start"] == "21:30"
        )
        found = self.rules(daemon)
        self.assertTrue(found["custom"] and found["quietHours"]["enabled"])
        self.assertIn("stop", found["push"]["events"])
        self.assertEqual("warning", found["urgency"]["exit"])
        self.assertIn("exit", found["webhooks"][0]["events"])
        self.assertEqual("https://ntfy.example", found["webhooks"][0]["urlMasked"])
        self.keep_picture(page, "rules")
        self.assertEqual([], faults_in_both(page))

    def test_row_of_a_muted_session_keeps_its_columns_in_the_fleet(self) -> None:
        daemon = self.daemon()
        muted, _ = (self.session(daemon, name) for name in ("api", "web"))
        daemon.request("POST", f"/api/sessions/{muted}/snooze", {"until": "asks"}).data()
        page = self.open(daemon, "/?page=fleet", viewport={"width": 1440, "height": 900})
        expect(page.get_by_test_id("fleet-row").get_by_test_id("snooze-mark")).to_be_visible()
        boxes = [each.bounding_box() for each in page.locator(".fleet-row .badge").all()]
        places = {(box["x"], box["width"]) for box in boxes if box is not None}
        self.assertEqual(1, len(places))

    def test_rules_are_set_on_a_phone(self) -> None:
        daemon = self.daemon()
        page = self.open(daemon, "/?page=settings", **PHONE)
        page.get_by_test_id("settings-nav-notifications").click()
        rules = page.get_by_test_id("notice-rules")
        rules.get_by_role("switch", name="Use my own rules").check()
        wait_until_on_page(page, "the rules", lambda: bool(self.rules(daemon)["custom"]))
        width = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        self.assertTrue(width)
        self.keep_picture(page, "phone")
        rules.get_by_role("switch", name="Use my own rules").uncheck()
        wait_until_on_page(page, "the rules", lambda: not self.rules(daemon)["custom"])
