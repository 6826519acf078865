"""What agents wait for: the inbox, the prompt box, chips and notices, in a real Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.axe import faults_in_both
from tests.browser.harness import BrowserCase, expect_focus, wait_until_on_page
from tests.browser.mock_service import MockService
from tests.non_empty import require_items

AGENT = "hexadecimal floats"
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
THUMB = 44
"""Pixels of height that a thumb hits."""
EDGES = """all => all.map((each) => each.getBoundingClientRect())
  .map(({ height, right }) => [height, right])"""


class WaitingSessionsCase(BrowserCase):
    """A page of a service with three sessions that are blocked, and one that is done."""

    expected = (
        r"responded with a status of (4|5)\d\d",
        # A test's window is such a one; the page's own notifications do work in it.
        r"does not support the Push API in incognito mode",
    )

    def setUp(self) -> None:
        super().setUp()
        self.mock = MockService()
        self.addCleanup(self.mock.close)

    def open(self, **options: Any) -> Page:
        page = self.page(self.mock.url, **options)
        expect(page.get_by_test_id("approvals-count")).to_have_text("3")
        expect(page.get_by_test_id("approvals-done")).to_have_text("1")
        return page

    def inbox(self, page: Page) -> Locator:
        page.get_by_test_id("approvals-bell").click()
        items = page.get_by_test_id("approval")
        expect(items).to_have_count(4)
        return items


class InboxPageTests(WaitingSessionsCase):
    def test_title_and_icon_follow_the_number_of_approvals(self) -> None:
        page = self.open()
        icon = page.locator("link[rel=icon]")
        wait_until_on_page(page, "a count in the title", lambda: page.title().startswith("(3) "))
        expect(icon).to_have_attribute("href", "./icons/icon-alert.svg")
        expect(page.get_by_test_id("todos").first).to_have_text("1/3")
        for left in (3, 2, 1, 0):
            page.get_by_test_id("approvals-bell").click()
            page.get_by_test_id("approval-dismiss").first.click()
            expect(page.get_by_test_id("approval")).to_have_count(left)
            page.keyboard.press("Escape")
        wait_until_on_page(page, "no count in the title", lambda: not page.title().startswith("("))
        expect(icon).to_have_attribute("href", "./icons/icon.svg")

    @pytest.mark.essential
    def test_approvals_are_answered_by_keyboard_alone(self) -> None:
        page = self.open()
        page.keyboard.press("Alt+Shift+A")
        first = page.get_by_test_id("approval").first
        expect_focus(first)
        expect(first).to_contain_text(AGENT)
        page.keyboard.press("1")
        expect(page.get_by_test_id("approval")).to_have_count(3)
        expect_focus(page.get_by_test_id("approval").first)

    def test_inbox_answers_approvals_of_every_kind(self) -> None:
        page = self.open()
        notice = page.get_by_test_id("ask-notice")
        expect(notice).to_be_visible()
        items = self.inbox(page)
        # The inbox beside the terminal says it already.
        expect(notice).to_have_count(0)
        items.nth(0).get_by_test_id("approval-option-2").click()
        expect(items).to_have_count(3)
        items.nth(0).get_by_test_id("approval-check-2").check()
        items.nth(0).get_by_test_id("approval-send-options").click()
        expect(items).to_have_count(2)
        items.nth(0).get_by_test_id("approval-text").fill("MariaDB")
        items.nth(0).get_by_test_id("approval-text-send").click()
        expect(items).to_have_count(1)
        items.nth(0).get_by_test_id("approval-text").fill("go on")
        items.nth(0).get_by_test_id("approval-text").press("Control+Enter")
        expect(page.get_by_test_id("approvals-none")).to_be_visible()

    def test_refusals_show_the_reason_and_refresh_the_item(self) -> None:
        page = self.open()
        first = self.inbox(page).first
        trouble, yes = first.get_by_test_id("approval-trouble"), "approval-option-1"
        self.mock.do("next", answer=422)
        first.get_by_test_id(yes).click()
        expect(trouble).to_contain_text("Couldn't send the answer")
        self.mock.do("next", answer=409)
        first.get_by_test_id(yes).click()
        expect(trouble).to_contain_text("changed")
        expect(first).to_contain_text("rm -r build")
        self.mock.do("next", answer=404)
        first.get_by_test_id(yes).click()
        expect(page.get_by_test_id("approval")).to_have_count(3)

    def test_new_approval_appears_live_and_is_read_aloud(self) -> None:
        page = self.open()
        self.inbox(page)
        self.mock.do("approval", kind="blind", id=self.mock.session("build"))
        expect(page.get_by_test_id("approval")).to_have_count(5)
        expect(page.get_by_test_id("announcer")).to_contain_text("build wants to edit")

    def test_approvals_fit_one_thumb_on_a_phone(self) -> None:
        page = self.open(**PHONE)
        self.mock.do("approval", kind="permission", id=self.mock.session(AGENT))
        page.get_by_test_id("approvals-bell").tap()
        option = page.get_by_test_id("approval-option-1").first
        expect(option).to_be_visible()
        buttons = page.locator(".approval .choice-button, .approval .choice-check")
        # All of one moment: the item that has just come takes the place of another.
        for height, right in require_items(buttons.evaluate_all(EDGES)):
            self.assertGreaterEqual(height, THUMB)
            self.assertLessEqual(right, 390)


class PromptFieldTests(WaitingSessionsCase):
    def setUp(self) -> None:
        super().setUp()
        self.shown = self.open()
        self.field = self.shown.get_by_test_id("prompt-field")
        self.outcome = self.shown.get_by_test_id("prompt-outcome")
        expect(self.shown.get_by_label("Message Claude Code")).to_be_visible()

    def write(self, text: str) -> None:
        self.field.fill(text)
        expect(self.field).to_have_value(text)

    @pytest.mark.essential
    def test_held_prompt_stays_in_the_field_until_delivered(self) -> None:
        self.mock.do("next", hold=1)
        self.write("first\nsecond")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("Sends after your answer.")
        expect(self.field).to_have_value("first\nsecond")
        self.mock.do("next", hold=0)
        expect(self.outcome).to_contain_text("Delivered")
        expect(self.field).to_have_value("")

    def test_late_terminal_leaves_the_focus_in_the_prompt_field(self) -> None:
        held: list[Route] = []
        context = self.context()
        context.route("**/assets/terminal-*.js", lambda route: held.append(route))
        page = self.open(context=context)
        field = page.get_by_test_id("prompt-field")
        field.click()
        wait_until_on_page(page, "the terminal's code", lambda: held)
        held[0].continue_()
        page.get_by_test_id("terminal").first.wait_for()
        page.keyboard.type("to the prompt")
        expect(field).to_have_value("to the prompt")

    def test_refused_prompt_keeps_its_text_over_a_reload(self) -> None:
        self.mock.do("next", input=422)
        self.write("mine")
        self.field.press("Control+Enter")
        expect(self.outcome).to_contain_text("Not sent")
        expect(self.field).to_have_value("mine")
        self.shown.reload()
        expect(self.field).to_have_value("mine")

    def test_prompt_with_a_lost_response_is_typed_once(self) -> None:
        self.mock.do("next", input=-1)
        self.write("mine")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("won't be typed twice")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("wasn't typed twice")
        self.field.press("ArrowUp")
        expect(self.field).to_have_value("mine")


class StateTests(WaitingSessionsCase):
    def test_status_reason_is_shown_on_keyboard_focus(self) -> None:
        page = self.open()
        page.get_by_test_id("terminal").first.wait_for()
        page.keyboard.press("Alt+Shift+T")
        tip = page.get_by_test_id("tip")
        expect(tip).to_be_visible()
        expect(tip).to_contain_text("needs you: wants to run")

    def test_plan_usage_levels_and_rate_limit_are_shown(self) -> None:
        page = self.open()
        agent = self.mock.session(AGENT)
        five = page.get_by_test_id("plan-5h")
        expect(five).to_have_attribute("data-level", "amber")
        self.assertEqual([], faults_in_both(page))
        self.mock.do("plan", id=agent, five=95)
        expect(five).to_have_attribute("data-level", "red")
        self.mock.do("limit", id=agent, minutes=42)
        notice = page.get_by_test_id("limit-notice")
        expect(notice).to_contain_text("in 42 min")
        notice.get_by_role("button").click()
        expect(notice).to_contain_text("The agent has stopped")


class NotificationTests(WaitingSessionsCase):
    whole = True

    def test_notifications_are_enabled_with_their_own_worker(self) -> None:
        page = self.open(permissions=["notifications"])
        page.goto(f"{self.mock.url}/?page=settings")
        page.get_by_test_id("notify-here").check()
        wait_until_on_page(
            page,
            "the setting",
            lambda: self.mock.get("/api/settings")["notificationPreferences"]["enabled"],
        )
        scope = page.evaluate("navigator.serviceWorker.ready.then((one) => one.scope)")
        self.assertEqual(f"{self.mock.url}/", scope)
