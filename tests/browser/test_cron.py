"""Scheduled jobs in a real Chromium: made, run, watched and deleted on their page."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import time
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import BrowserCase, Terminal, until
from tests.browser.mockservice import MockService

DESK: dict[str, Any] = {"timezone_id": "America/New_York", "locale": "en-GB"}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
THUMB = 44
"""Pixels of height that a thumb hits."""


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=name, exact=True)


def wrong(page: Page, field: str) -> Locator:
    return page.get_by_test_id(f"wrong-{field}")


class DaemonTests(BrowserCase):
    """The page against the service itself."""

    expected = (r"the server responded with a status of 400",)

    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon(TZ="Europe/Berlin")
        self.shown = self.page(f"{self.service.url}/?page=cron", **DESK)

    def jobs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.service.request("GET", "/api/cron/jobs").data()
        return found

    def write(self, name: str, prompt: str) -> None:
        """A new shell job in the editor, daily as it begins; not saved."""
        page = self.shown
        page.get_by_test_id("cron-new").click()
        page.get_by_test_id("job-name").fill(name)
        page.get_by_test_id("job-agentType").select_option("shell")
        page.get_by_test_id("job-workingDir").fill(str(self.service.home))
        page.get_by_test_id("job-promptText").fill(prompt)

    def save(self) -> None:
        self.shown.get_by_test_id("job-save").click()
        expect(self.shown.get_by_test_id("cron-editor")).to_have_count(0)

    def test_from_nothing_to_a_run_and_its_session(self) -> None:
        page = self.shown
        expect(page.get_by_test_id("cron-none")).to_be_visible()
        self.write("disk watch", "echo ran-$((40 + 2))")
        self.save()
        job = card(page, "disk watch")
        expect(job.get_by_test_id("job-schedule")).to_have_text("Every day at 09:00")
        job.get_by_test_id("job-run").click()
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        job.get_by_test_id("job-runs").click()
        expect(job.get_by_test_id("run")).to_contain_text("by hand")
        job.get_by_test_id("run").get_by_test_id("run-session").click()
        expect(page.get_by_test_id("page-cron")).to_have_count(0)
        Terminal(page).ready().wait("ran-42")

    def test_times_are_those_of_the_service(self) -> None:
        page = self.shown
        self.write("morning", "date")
        expect(page.get_by_test_id("fire")).to_have_count(5)
        for fire in page.get_by_test_id("fire").all():
            self.assertIn(", 09:00", fire.inner_text())
        page.get_by_test_id("kind-once").check()
        page.get_by_test_id("job-runAt").fill("2099-07-01T09:00")
        expect(page.get_by_test_id("fire")).to_have_count(1)
        expect(page.get_by_test_id("fire")).to_contain_text("Wed 1 Jul 2099, 09:00")
        self.save()
        # Nine in Berlin's summer is seven by UTC.
        self.assertEqual([4086572400000], [job["runAt"] for job in self.jobs()])
        expect(page.get_by_test_id("cron-zone")).to_contain_text("Europe/Berlin")
        expect(page.get_by_test_id("cron-zone")).to_contain_text("ahead of yours")

    def test_each_kind_is_kept_as_it_was_written(self) -> None:
        page = self.shown
        self.write("kinds", "date")
        self.save()
        hours = page.get_by_test_id("job-intervalMinutes")
        self.change("interval", "in 4 d", lambda: hours.fill("96"))
        self.change("weekly", "Thu", lambda: page.get_by_test_id("day-4").check())
        self.change("cron", ", 06:00", page.get_by_text("the first of each month").click)
        kept = self.jobs()[0]
        self.assertEqual("0 6 1 * *", kept["cronExpression"])
        self.assertNotIn("weeklyDays", kept)

    def change(self, kind: str, shows: str, write: Callable[[], None]) -> None:
        """Give the job another schedule, which the editor then shows again.

        @param shows: what one of the next five fires says.
        """
        page = self.shown
        fire = page.get_by_test_id("fire").filter(has_text=shows).first
        page.get_by_test_id("job-edit").click()
        page.get_by_test_id(f"kind-{kind}").check()
        write()
        expect(fire).to_be_visible()
        self.save()
        self.assertEqual(kind, self.jobs()[0]["scheduleType"])
        page.get_by_test_id("job-edit").click()
        expect(page.get_by_test_id(f"kind-{kind}")).to_be_checked()
        expect(fire).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("cron-editor")).to_have_count(0)

    def test_the_service_s_refusals_stand_at_their_fields(self) -> None:
        page = self.shown
        self.write("wrong", "date")
        page.get_by_test_id("kind-cron").check()
        page.get_by_test_id("job-cronExpression").fill("0 9 31 2 *")
        expect(wrong(page, "cronExpression")).to_be_visible()
        page.get_by_test_id("job-cronExpression").fill("0 9 * * *")
        expect(page.get_by_test_id("fire")).to_have_count(5)
        expect(wrong(page, "cronExpression")).to_have_count(0)
        page.get_by_test_id("job-workingDir").fill("/proc")
        expect(wrong(page, "workingDir")).to_contain_text("Must not be /proc")
        page.get_by_test_id("job-save").click()
        expect(page.get_by_test_id("job-workingDir")).to_be_focused()
        self.assertEqual([], self.jobs())

    def test_a_job_that_has_run_is_switched_on_with_another_moment(self) -> None:
        page = self.shown
        moment = int(time() * 1000) + 1500
        made = {**self.body("done"), "scheduleType": "once", "runAt": moment}
        self.service.request("POST", "/api/cron/jobs", made).data()
        job = card(page, "done")
        expect(job.get_by_test_id("job-next")).to_contain_text("Has run")
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        job.get_by_test_id("job-enabled").click()
        expect(page.get_by_test_id("fire")).to_have_count(1)
        self.save()
        expect(job.get_by_test_id("job-enabled")).to_be_checked()
        self.assertGreater(self.jobs()[0]["runAt"], moment)

    def body(self, name: str) -> dict[str, Any]:
        """A shell job without its schedule."""
        return {
            "name": name,
            "agentType": "shell",
            "workingDir": str(self.service.home),
            "promptMode": "inline_text",
            "promptText": "date",
            "inputMode": "paste",
            "enabled": True,
            "concurrencyPolicy": "warn_only",
        }

    def test_another_client_s_changes_show_at_once(self) -> None:
        page = self.shown
        every = {"scheduleType": "interval", "intervalMinutes": 90}
        body = {**self.body("by a script"), **every}
        expect(page.get_by_test_id("cron-none")).to_be_visible()
        made = self.service.request("POST", "/api/cron/jobs", body).data()["job"]
        job = card(page, "by a script")
        expect(job.get_by_test_id("job-schedule")).to_have_text("Every 1 h 30 min")
        expect(job.get_by_test_id("job-next")).to_contain_text("in 1 h 30 min")
        job.get_by_test_id("job-enabled").click()
        expect(job.get_by_test_id("job-next")).to_have_text("Switched off")
        self.assertFalse(self.jobs()[0]["enabled"])
        self.service.request("DELETE", f"/api/cron/jobs/{made['id']}").data()
        expect(page.get_by_test_id("cron-none")).to_be_visible()

    def test_delete_by_keyboard_alone_asks_first(self) -> None:
        page = self.shown
        self.write("to go", "date")
        self.save()
        self.choose_delete()
        expect(page.get_by_test_id("ask")).to_contain_text("Delete to go?")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("ask")).to_have_count(0)
        self.assertEqual(1, len(self.jobs()))
        self.choose_delete()
        page.get_by_test_id("ask-agree").press("Enter")
        expect(page.get_by_test_id("cron-none")).to_be_visible()
        self.assertEqual([], self.jobs())

    def choose_delete(self) -> None:
        page = self.shown
        page.get_by_test_id("job-more").press("Enter")
        expect(page.get_by_role("menuitem", name="Make a copy")).to_be_focused()
        page.keyboard.press("End")
        expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
        page.keyboard.press("Enter")


class MockTests(BrowserCase):
    """What a service seldom shows: failures, fires while one looks, long lists."""

    def setUp(self) -> None:
        super().setUp()
        self.mock = MockService()
        self.addCleanup(self.mock.close)

    def open(self, **options: Any) -> Page:
        page = self.page(f"{self.mock.url}/?page=cron", **options)
        expect(page.get_by_test_id("job")).to_have_count(5)
        return page

    def test_by_its_key_and_by_the_menu(self) -> None:
        page = self.page(self.mock.url)
        page.get_by_test_id("terminal").first.wait_for()
        page.keyboard.press("Alt+Shift+J")
        expect(page.get_by_test_id("cron")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_test_id("open-pages").click()
        page.get_by_role("menuitem", name="Scheduled jobs").click()
        expect(page.get_by_test_id("cron")).to_be_visible()
        self.assertIn("page=cron", page.url)

    def test_a_failure_says_why(self) -> None:
        page = self.open()
        job = card(page, "Nightly dependency update")
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        self.mock.do("cron", job="Nightly dependency update", failure="the folder is gone")
        expect(job.get_by_test_id("job-last")).to_have_text(
            re.compile("failed: the folder is gone")
        )

    def test_a_fire_shows_while_one_looks(self) -> None:
        page = self.open()
        job = card(page, "Disk watch")
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

    def test_what_was_written_is_not_lost_by_a_key(self) -> None:
        page = self.open()
        card(page, "Disk watch").get_by_test_id("job-edit").click()
        page.get_by_test_id("job-name").fill("Disk watch, twice")
        page.keyboard.press("Escape")
        page.get_by_test_id("ask").get_by_role("button", name="Cancel").click()
        expect(page.get_by_test_id("job-name")).to_have_value("Disk watch, twice")
        page.get_by_test_id("job-save").click()
        expect(card(page, "Disk watch, twice")).to_be_visible()
        card(page, "Disk watch, twice").get_by_test_id("job-edit").click()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("cron-editor")).to_have_count(0)

    def test_a_prompt_is_one_line(self) -> None:
        page = self.open()
        page.get_by_test_id("cron-new").click()
        prompt = page.get_by_test_id("job-promptText")
        prompt.fill("first\n  second")
        expect(prompt).to_have_value("first second")
        prompt.press("End")
        prompt.press("Enter")
        prompt.press_sequentially(", third")
        expect(prompt).to_have_value("first second, third")

    def test_an_unfinished_draft_is_not_sent(self) -> None:
        page = self.open()
        page.get_by_test_id("cron-new").click()
        expect(wrong(page, "name")).to_have_count(0)
        page.get_by_test_id("job-save").click()
        expect(wrong(page, "name")).to_be_visible()
        expect(wrong(page, "promptText")).to_be_visible()
        name = page.get_by_test_id("job-name")
        expect(name).to_be_focused()
        problem = page.locator(f"[id='{name.get_attribute('aria-describedby')}']")
        expect(problem).to_have_text("This is needed.")
        self.assertEqual(5, len(self.mock.get("/api/cron/jobs")))

    def test_one_thumb(self) -> None:
        page = self.open(**PHONE)
        self.assert_fits(page, ".job-foot button, .cron-head .button", 42)
        page.get_by_test_id("cron-new").tap()
        page.get_by_test_id("kind-weekly").check()
        expect(page.get_by_test_id("fire")).to_have_count(5)
        self.assert_fits(page, ".days span", THUMB)
        editor = page.get_by_test_id("cron-editor").locator(".dialog-content")
        until(
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
