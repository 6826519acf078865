"""Scheduled jobs: made, run, watched and deleted on their page."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import time
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.cron_page import field_fault, job_card
from tests.browser.harness import PHONE, BrowserCase, PageTerminal, expect_focus, wait_until_on_page

DESK: dict[str, Any] = {"timezone_id": "America/New_York", "locale": "en-GB"}


class CronPageFormTests(BrowserCase):
    """A page of a service without a job."""

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

    @pytest.mark.essential
    def test_job_is_created_run_and_its_session_opened(self) -> None:
        page = self.shown
        expect(page.get_by_test_id("cron-none")).to_be_visible()
        self.write("disk watch", "echo ran-$((40 + 2))")
        self.save()
        expect_focus(page.get_by_test_id("cron-new"))
        job = job_card(page, "disk watch")
        expect(job.get_by_test_id("job-schedule")).to_have_text(
            re.compile(r"Every day at 09:00 \(Berlin\), 0[34]:00 New York here")
        )
        job.get_by_test_id("job-run").click()
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        job.get_by_test_id("job-runs").click()
        expect(job.get_by_test_id("run")).to_contain_text("manual")
        job.get_by_test_id("run").get_by_test_id("run-session").click()
        # The jobs stay beside it.
        PageTerminal(page).ready().wait("ran-42")
        expect(page.get_by_test_id("page-cron")).to_be_visible()

    def test_job_of_several_lines_is_tried_at_once(self) -> None:
        self.try_job("desk")

    def test_job_is_tried_at_once_on_a_phone(self) -> None:
        self.shown.close()
        self.shown = self.page(f"{self.service.url}/?page=cron", **DESK | PHONE)
        self.try_job("phone")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        self.assertEqual(0, self.shown.evaluate(wide))

    def try_job(self, name: str) -> None:
        """A job of two lines; its schedule stands there in words, in both zones."""
        page = self.shown
        self.write(name, "echo one-$((40 + 1))\necho two-$((40 + 2))")
        page.get_by_test_id("kind-weekly").check()
        for day in (2, 3, 4, 5):
            page.get_by_test_id(f"day-{day}").check()
        words = re.compile(r"^Every weekday at 09:00 \(Berlin\), 0[34]:00 New York here$")
        expect(page.get_by_test_id("schedule-sentence")).to_have_text(words)
        expect(page.get_by_test_id("fire").first).to_contain_text("New York here")
        page.get_by_test_id("job-try").click()
        expect(page.get_by_test_id("cron-editor")).to_have_count(0)
        job = job_card(page, name)
        expect(job.get_by_test_id("job-schedule")).to_have_text(words)
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        (run,) = self.service.request("GET", "/api/cron/runs").data()
        path = f"/api/sessions/{run['sessionId']}/terminal"
        wait_until_on_page(
            page,
            "both lines ran",
            lambda: all(
                word in self.service.request("GET", path).data()["terminalBuffer"]
                for word in ("one-41", "two-42")
            ),
        )

    def test_job_times_use_the_zone_of_the_service(self) -> None:
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

    def test_each_schedule_kind_is_saved_as_written(self) -> None:
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

    def test_cron_expression_is_explained_below_its_field(self) -> None:
        """Also before a folder is chosen, and beside a folder that is refused."""
        page = self.shown
        words = page.get_by_test_id("cron-explanation")
        self.write("explained", "date")
        page.get_by_test_id("job-workingDir").fill("")
        page.get_by_test_id("kind-cron").check()
        page.get_by_test_id("job-cronExpression").fill("0 0 */2 * 1")
        both = "At 00:00, on every 2nd day from the 1st to the 31st, only if it is Monday."
        expect(words).to_have_text(both)
        expect(page.get_by_test_id("fire").first).to_contain_text("Mon ")
        page.get_by_test_id("job-workingDir").fill("/proc")
        page.get_by_test_id("job-cronExpression").fill("0 0 1,15 * 1")
        expect(words).to_have_text(
            "At 00:00, on the 1st and 15th of the month, and also on Monday."
        )
        expect(field_fault(page, "workingDir")).to_be_visible()
        page.get_by_test_id("job-cronExpression").fill("0 0 32 * *")
        expect(field_fault(page, "cronExpression")).to_contain_text("must be 1 to 31")
        expect(words).to_have_text("")

    def test_refusals_of_the_service_appear_at_their_fields(self) -> None:
        page = self.shown
        self.write("wrong", "date")
        page.get_by_test_id("kind-cron").check()
        page.get_by_test_id("job-cronExpression").fill("0 9 31 2 *")
        expect(field_fault(page, "cronExpression")).to_be_visible()
        page.get_by_test_id("job-cronExpression").fill("0 9 * * *")
        expect(page.get_by_test_id("fire")).to_have_count(5)
        expect(field_fault(page, "cronExpression")).to_have_count(0)
        page.get_by_test_id("job-workingDir").fill("/proc")
        expect(field_fault(page, "workingDir")).to_contain_text("Must not be in /proc")
        page.get_by_test_id("job-save").click()
        expect_focus(page.get_by_test_id("job-workingDir"))
        self.assertEqual([], self.jobs())

    def test_finished_job_is_enabled_with_another_date(self) -> None:
        page = self.shown
        moment = wait_until_on_page(
            page, "a moment that was not over before it was heard of", self.soon
        )
        job = job_card(page, "done")
        expect(job.get_by_test_id("job-next")).to_contain_text("Has run")
        expect(job.get_by_test_id("job-last")).to_contain_text("prompt sent")
        job.get_by_test_id("job-enabled").click()
        expect(page.get_by_test_id("fire")).to_have_count(1)
        self.save()
        expect(job.get_by_test_id("job-enabled")).to_be_checked()
        self.assertGreater(self.jobs()[0]["runAt"], moment)

    def soon(self) -> int:
        """Make a job that fires in a moment, which is told; 0: it was over already."""
        moment = int(time() * 1000) + 3000
        made = {**self.body("done"), "scheduleType": "once", "runAt": moment}
        answer = self.service.request("POST", "/api/cron/jobs", made)
        if answer.status == 400 and "runAt" in answer.json()["error"]:
            return 0
        answer.data()
        return moment

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

    def test_changes_by_another_client_appear_immediately(self) -> None:
        page = self.shown
        every = {"scheduleType": "interval", "intervalMinutes": 90}
        body = {**self.body("by a script"), **every}
        expect(page.get_by_test_id("cron-none")).to_be_visible()
        made = self.service.request("POST", "/api/cron/jobs", body).data()["job"]
        job = job_card(page, "by a script")
        expect(job.get_by_test_id("job-schedule")).to_have_text("Every 1 h 30 min")
        # To the nearest minute, of which some seconds may be over.
        expect(job.get_by_test_id("job-next")).to_contain_text(re.compile("in 1 h (30|29) min"))
        job.get_by_test_id("job-enabled").click()
        expect(job.get_by_test_id("job-next")).to_have_text("Off")
        self.assertFalse(self.jobs()[0]["enabled"])
        self.service.request("DELETE", f"/api/cron/jobs/{made['id']}").data()
        expect(page.get_by_test_id("cron-none")).to_be_visible()

    def test_job_deletion_by_keyboard_alone_asks_first(self) -> None:
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
        expect_focus(page.get_by_role("menuitem", name="Duplicate"))
        page.keyboard.press("End")
        expect_focus(page.get_by_role("menuitem", name="Delete"))
        page.keyboard.press("Enter")
