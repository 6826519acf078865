"""The fleet: the page that many sessions begin with, and what stands in the terminals' place."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import (
    PHONE,
    TOO_WIDE,
    BrowserCase,
    PageTerminal,
    is_uncovered,
    wait_until_on_page,
)
from tests.browser.mock_service import MockService
from tests.integration.harness import PATIENCE

MANY = 10


class FleetPageTests(BrowserCase):
    """One service with so many sessions that no digit leads to the last."""

    mock: MockService
    expected = (r"the server responded with a status of 404",)

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.mock = MockService()
        cls.addClassCleanup(cls.mock.close)
        for number in range(MANY - len(cls.mock.get("/api/status")["sessions"])):
            made = json.dumps({"mode": "shell", "name": f"task {number}"}).encode()
            head = {"Content-Type": "application/json"}
            with urlopen(
                Request(f"{cls.mock.url}/api/sessions", made, head), timeout=PATIENCE
            ) as a:
                a.read()

    @pytest.mark.essential
    def test_fleet_page_lists_many_sessions_first(self) -> None:
        page = self.page(self.mock.url, viewport={"width": 1440, "height": 900})
        fleet = page.get_by_test_id("page-fleet")
        expect(fleet).to_be_visible()
        expect(page.locator("dialog:modal")).to_have_count(0)
        expect(page.locator(".under")).to_have_attribute("inert", "")
        self.start_what_ended(page)
        page.get_by_test_id("side-session").filter(has_text="docs site").click()
        expect(fleet).to_have_count(0)
        expect(page.get_by_test_id("front")).to_contain_text("docs site")
        page.reload()
        PageTerminal(page).ready()
        expect(fleet).to_have_count(0)

        page.get_by_test_id("home").click()
        expect(fleet).to_be_visible()
        page.keyboard.press("Alt+1")
        expect(fleet).to_have_count(0)
        page.keyboard.press("Alt+Shift+F")
        expect(fleet).to_be_visible()
        page.keyboard.press("Alt+Shift+L")
        expect(page.get_by_test_id("page-files")).to_be_visible()
        expect(fleet).to_have_count(0)
        page.keyboard.press("Alt+Shift+S")
        page.locator("label:has([data-testid=home-session])").click()
        expect(page.get_by_test_id("home-session")).to_be_checked()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("page-settings")).to_have_count(0)
        page.goto(self.mock.url)
        PageTerminal(page).ready()
        expect(fleet).to_have_count(0)

    def start_what_ended(self, page: Page) -> None:
        row = page.get_by_test_id("fleet-row").filter(has_text="logs")
        expect(row.get_by_test_id("fleet-what")).to_have_text("not running")
        row.get_by_test_id("fleet-start").click()
        page.mouse.move(2, 2)
        expect(row.get_by_test_id("fleet-what")).to_have_text("ready")
        expect(row.get_by_test_id("fleet-start")).to_have_count(0)

    def test_one_prompt_goes_to_several_chosen_sessions(self) -> None:
        page = self.page(f"{self.mock.url}/?page=fleet", viewport={"width": 1440, "height": 900})
        for name in ("task 0", "task 1"):
            row = page.get_by_test_id("fleet-row").filter(has_text=name)
            row.get_by_test_id("fleet-visit").click(modifiers=["Control"])
        done = page.get_by_test_id("fleet-row").filter(has_text="write the changelog")
        done.get_by_test_id("fleet-visit").click(modifiers=["Control"])
        expect(page.get_by_test_id("fleet-count")).to_have_text("3 selected")
        page.get_by_test_id("fleet-prompt").fill("go on")
        page.keyboard.press("Enter")
        outcomes = page.get_by_test_id("fleet-outcome")
        expect(outcomes).to_have_text(
            ["task 0Not sent: this is a shell.", "task 1Not sent: this is a shell.",
             "write the changelogDelivered"]
        )  # fmt: skip
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("fleet-bar")).to_have_count(0)
        expect(page.get_by_test_id("page-fleet")).to_be_visible()

    def test_finger_that_rests_chooses_a_session(self) -> None:
        page = self.page(self.mock.url, **PHONE)
        page.get_by_test_id("fleet-visit").first.wait_for()
        row = page.get_by_test_id("fleet-row").filter(has_text="task 2")
        row.scroll_into_view_if_needed()
        box = row.get_by_test_id("fleet-visit").bounding_box()
        assert box is not None
        place = {"x": box["x"] + 40, "y": box["y"] + box["height"] / 2}
        touch = page.context.new_cdp_session(page)
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
        expect(page.get_by_test_id("fleet-count")).to_have_text("1 selected")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(page.get_by_test_id("page-fleet")).to_be_visible()
        page.get_by_test_id("fleet-row").filter(has_text="task 1").get_by_test_id(
            "fleet-visit"
        ).tap()
        expect(page.get_by_test_id("fleet-count")).to_have_text("2 selected")
        self.assertEqual([], page.evaluate(TOO_WIDE))

    def test_fleet_page_fits_a_phone(self) -> None:
        page = self.page(self.mock.url, **PHONE)
        fleet = page.get_by_test_id("page-fleet")
        card = fleet.get_by_test_id("fleet-card").filter(has_text="hexadecimal floats")
        card.get_by_test_id("fleet-visit").tap()
        expect(fleet).to_have_count(0)
        expect(page.locator(".current-name")).to_have_text("hexadecimal floats")
        page.get_by_test_id("current").tap()
        page.get_by_test_id("drawer-fleet").tap()
        expect(page.get_by_test_id("drawer")).to_have_count(0)
        expect(fleet).to_be_visible()
        heading = fleet.get_by_role("heading", name="Fleet")
        wait_until_on_page(page, "it in sight", lambda: is_uncovered(heading))

    def test_dialog_over_a_page_blocks_the_page_below(self) -> None:
        """A new session over a page; what is below cannot be reached, and is there again."""
        page = self.page(f"{self.mock.url}/?page=doctor", viewport={"width": 1024, "height": 768})
        doctor, new = page.get_by_test_id("page-doctor"), page.get_by_test_id("new-session")
        expect(doctor).to_be_visible()
        page.get_by_test_id("new-session-button").click()
        expect(new).to_be_visible()
        expect(page.locator(".staged[inert] > [data-testid=page-doctor]")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(new).to_have_count(0)
        expect(page.locator(".staged:not([inert]) > [data-testid=page-doctor]")).to_have_count(1)
        page.get_by_test_id("side-session").first.click()
        expect(doctor).to_have_count(0)
