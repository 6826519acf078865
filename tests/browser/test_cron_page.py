"""Scheduled jobs as a service seldom shows them: failures, fires while one looks, long lists."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.cron_page import field_fault, job_card
from tests.browser.harness import BrowserCase, expect_focus, wait_until_on_page
from tests.browser.mock_service import MockService

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
THUMB = 44
"""Pixels of height that a thumb hits."""


class JobsPageTests(BrowserCase):
    """A page of a service with five jobs."""

    def setUp(self) -> None:
        super().setUp()
        self.mock = MockService()
        self.addCleanup(self.mock.close)

    def open(self, **options: Any) -> Page:
        page = self.page(f"{self.mock.url}/?page=cron", **options)
        expect(page.get_by_test_id("job")).to_have_count(5)
        return page

    def test_jobs_page_opens_by_key_and_by_menu(self) -> None:
        page = self.page(self.mock.url)
        page.get_by_test_id("terminal").first.wait_for()
        page.keyboard.press("Alt+Shift+J")
        expect(page.get_by_test_id("cron")).to_be_visible()
        expect(page.locator("dialog[open]")).to_have_count(0)
        page.set_viewport_size({"width": 1000, "height": 800})
        expect(page.get_by_test_id("cron")).to_have_count(0)
        page.get_by_test_id("open-pages").click()
        page.get_by_role("menuitem", name="Scheduled jobs").click()
        expect(page.get_by_test_id("cron")).to_be_visible()
        self.assertIn("page=cron", page.url)

    def test_failed_job_shows_its_reason(self) -> None:
        page = self.open()
        job = job_card(page, "Nightly dependency update")
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        self.mock.do("cron", job="Nightly dependency update", failure="the folder is gone")
        expect(job.get_by_test_id("job-last")).to_have_text(
            re.compile("failed: the folder is gone")
        )

    def test_new_job_run_appears_in_an_open_list(self) -> None:
        page = self.open()
        job = job_card(page, "Disk watch")
        job.get_by_test_id("job-runs").click()
        runs = job.get_by_test_id("run")
        expect(runs).to_have_count(8)
        job.get_by_test_id("runs-more").click()
        expect(runs).to_have_count(14)
        self.mock.do("cron", job="Disk watch")
        expect(runs).to_have_count(15)
        expect(runs.first).to_have_attribute("data-status", "prompt_sent")
        expect(runs.first.get_by_test_id("run-session")).to_have_text("Disk watch")
        # Its session took the place of the one before.
        expect(runs.nth(1)).to_contain_text("build (closed)")

    def test_closing_key_does_not_discard_an_edited_job(self) -> None:
        page = self.open()
        job_card(page, "Disk watch").get_by_test_id("job-edit").click()
        page.get_by_test_id("job-name").fill("Disk watch, twice")
        page.keyboard.press("Escape")
        page.get_by_test_id("ask").get_by_role("button", name="Cancel").click()
        expect(page.get_by_test_id("job-name")).to_have_value("Disk watch, twice")
        page.get_by_test_id("job-save").click()
        expect(job_card(page, "Disk watch, twice")).to_be_visible()
        job_card(page, "Disk watch, twice").get_by_test_id("job-edit").click()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("cron-editor")).to_have_count(0)

    def test_unfinished_job_is_restored_when_the_editor_reopens(self) -> None:
        page = self.open()
        page.get_by_test_id("cron-new").click()
        page.get_by_test_id("job-name").fill("half")
        page.get_by_test_id("panel-close").click()
        expect(page.get_by_test_id("cron")).to_have_count(0)
        page.keyboard.press("Alt+Shift+J")
        expect(page.get_by_test_id("job-name")).to_have_value("half")
        page.get_by_test_id("cron-editor").get_by_role("button", name="Cancel").click()
        page.get_by_test_id("ask").get_by_role("button", name="Discard").click()
        expect_focus(page.get_by_test_id("cron-new"))
        page.get_by_test_id("cron-new").click()
        expect(page.get_by_test_id("job-name")).to_have_value("")

    def test_prompt_of_a_job_has_several_lines(self) -> None:
        page = self.open()
        page.get_by_test_id("cron-new").click()
        prompt = page.get_by_test_id("job-promptText")
        prompt.fill("first\n  second")
        prompt.press("End")
        prompt.press("Enter")
        prompt.press_sequentially("third")
        expect(prompt).to_have_value("first\n  second\nthird")

    def test_incomplete_job_draft_is_not_sent(self) -> None:
        page = self.open()
        page.get_by_test_id("cron-new").click()
        expect(field_fault(page, "name")).to_have_count(0)
        page.get_by_test_id("job-save").click()
        expect(field_fault(page, "name")).to_be_visible()
        expect(field_fault(page, "promptText")).to_be_visible()
        name = page.get_by_test_id("job-name")
        expect_focus(name)
        problem = page.locator(f"[id='{name.get_attribute('aria-describedby')}']")
        expect(problem).to_have_text("Required")
        self.assertEqual(5, len(self.mock.get("/api/cron/jobs")))

    def test_jobs_page_fits_one_thumb_on_a_phone(self) -> None:
        page = self.open(**PHONE)
        self.assert_fits(page, ".job-foot button, .cron-head .button", 42)
        page.get_by_test_id("cron-new").tap()
        page.get_by_test_id("kind-weekly").check()
        expect(page.get_by_test_id("fire")).to_have_count(5)
        self.assert_fits(page, ".days span", THUMB)
        editor = page.get_by_test_id("cron-editor")
        wait_until_on_page(
            page,
            "no sideways scrolling",
            lambda: editor.evaluate("element => element.scrollWidth <= element.clientWidth"),
        )

    def assert_fits(self, page: Page, selector: str, least: float) -> None:
        """Everything is on the screen and can be hit."""
        found = page.locator(selector)
        expect(found.first).to_be_visible()
        for box in [one.bounding_box() for one in found.all()]:
            assert box is not None
            self.assertGreaterEqual(box["height"], least)
            self.assertGreaterEqual(box["x"], 0)
            self.assertLessEqual(box["x"] + box["width"], 390)
