"""One order and one key: what is seen, what the keys follow, and what a few letters find."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.harness import BrowserCase, expect_focus, is_uncovered, wait_until_on_page
from tests.browser.mock_service import MockService

OLDEST, SECOND = "hexadecimal floats", "review the migration"
OPACITY = "each => getComputedStyle(each).opacity"
TABLET: dict[str, Any] = {"viewport": {"width": 820, "height": 1180}, "has_touch": True}


class OrderTests(BrowserCase):
    """A page of a service with three agents that need a person, and one that is done."""

    def setUp(self) -> None:
        super().setUp()
        self.mock = MockService()
        self.addCleanup(self.mock.close)

    def open(self, path: str = "", **options: Any) -> Page:
        options = {"viewport": {"width": 1440, "height": 900}, **options}
        page = self.page(f"{self.mock.url}{path}", **options)
        expect(page.get_by_test_id("approvals-count")).to_have_text("3")
        return page

    def names(self, page: Page) -> list[str]:
        return page.locator(".side-name").all_inner_texts()

    def expect_front(self, page: Page, name: str) -> None:
        expect(page.locator(".front-name")).to_have_text(name)

    def test_keys_follow_the_list_and_lead_to_those_that_need_a_person(self) -> None:
        page = self.open(f"/?session={self.mock.session('build')}")
        expect(page.get_by_test_id("side-group").first).to_contain_text("Needs you")
        seen = self.names(page)
        self.assertEqual([OLDEST, SECOND, "choose the database", "build"], seen[:4])
        numbers = page.get_by_test_id("session-number")
        expect(numbers.first).to_have_css("opacity", "0")
        page.keyboard.down("Alt")
        expect(numbers.first).to_have_css("opacity", "1")
        page.keyboard.press("5")
        page.keyboard.up("Alt")
        self.expect_front(page, seen[4])
        expect(numbers.first).to_have_css("opacity", "0")
        page.keyboard.press("Alt+Shift+ArrowRight")
        self.expect_front(page, seen[5])
        for name in (OLDEST, SECOND, "choose the database", OLDEST):
            page.keyboard.press("Alt+Shift+Enter")
            self.expect_front(page, name)
        # The rest stays where it is when somebody asks.
        self.mock.do("approval", kind="blind", id=self.mock.session("docs site"))
        wait_until_on_page(page, "it among them", lambda: self.names(page)[3] == "docs site")
        self.assertEqual([name for name in seen if name != "docs site"],
                         [name for name in self.names(page) if name != "docs site"])  # fmt: skip

    def test_cards_are_walked_dismissed_and_taken_back_by_keys(self) -> None:
        for path, card in (("/?page=fleet", "fleet-card"), ("", "approval")):
            page = self.open(path)
            if card == "approval":
                page.keyboard.press("Alt+Shift+A")
                expect_focus(page.get_by_test_id(card).first)
                page.keyboard.press("k")
            else:
                page.get_by_test_id("fleet-question").first.wait_for()
                page.keyboard.press("j")
            expect_focus(page.get_by_test_id(card).first)
            page.keyboard.press("j")
            second = page.get_by_test_id(card).nth(1)
            expect_focus(second)
            page.keyboard.press("e")
            undo = page.get_by_test_id("approval-undo")
            expect(undo).to_have_count(1)
            page.keyboard.press("u")
            expect(undo).to_have_count(0)
            expect(second.get_by_test_id("approval-dismiss")).to_be_visible()
        self.assertEqual(4, len(self.mock.get("/api/approvals")["approvals"]))
        page.keyboard.press("e")
        wait_until_on_page(
            page, "one less", lambda: len(self.mock.get("/api/approvals")["approvals"]) == 3
        )

    def test_list_has_a_width_of_its_own(self) -> None:
        page = self.open()
        edge = page.get_by_test_id("sidebar-edge")
        box = edge.bounding_box()
        assert box is not None
        page.mouse.move(box["x"], 300)
        page.mouse.down()
        page.mouse.move(box["x"] + 100, 300, steps=4)
        page.mouse.up()
        side = page.get_by_test_id("sidebar")
        wait_until_on_page(page, "it wider", lambda: self.width(page) == 372)
        edge.focus()
        page.keyboard.press("ArrowLeft")
        wait_until_on_page(page, "a step back", lambda: self.width(page) == 348)
        page.reload()
        side.wait_for()
        wait_until_on_page(page, "it as before", lambda: self.width(page) == 348)
        page.keyboard.press("Alt+Shift+F")
        fleet = page.get_by_test_id("page-fleet").locator("xpath=..").bounding_box()
        assert fleet is not None
        self.assertEqual(348, fleet["x"])
        page.keyboard.press("Alt+Shift+F")
        page.set_viewport_size({"width": 701, "height": 800})
        expect(side).to_have_attribute("data-rail", "true")
        self.assertLess(self.width(page), 60)

    def width(self, page: Page) -> float:
        box = page.get_by_test_id("sidebar").bounding_box()
        assert box is not None
        return box["width"]

    def test_rail_of_a_tablet_is_touched(self) -> None:
        page = self.open(**TABLET)
        rows = page.get_by_test_id("side-session")
        expect(page.get_by_test_id("tab")).to_have_count(0)
        row = page.get_by_role("button", name="docs site")
        wait_until_on_page(page, "it in sight", lambda: is_uncovered(row))
        box = rows.first.bounding_box()
        assert box is not None
        self.assertGreaterEqual(min(box["width"], box["height"]), 43)
        row.tap()
        self.expect_front(page, "docs site")

    def test_palette_acts_on_the_session_in_front_and_remembers(self) -> None:
        page = self.open(f"/?session={self.mock.session(SECOND)}")
        theme = "() => document.documentElement.dataset.theme"
        self.choose(page, "light theme", "Light theme")
        wait_until_on_page(page, "it light", lambda: page.evaluate(theme) == "light")
        self.choose(page, "approve", "Answer")
        focused = page.locator("[data-testid=approval]:focus")
        expect(focused).to_contain_text(SECOND)
        self.choose(page, "line height", "Line height")
        expect_focus(page.get_by_test_id("line-height"))
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Shift+K")
        labels = page.locator(".palette-label")
        expect(labels.nth(0)).to_have_text("Line height")
        expect(labels.nth(1)).to_have_text("Answer")

    def choose(self, page: Page, letters: str, label: str) -> None:
        """Run what the palette finds first."""
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").fill(letters)
        expect(page.locator(".palette-label").first).to_have_text(label)
        page.keyboard.press("Enter")

    def test_bars_and_menu_speak_of_what_is_shown(self) -> None:
        page = self.open()
        page.keyboard.press("Alt+Shift+F")
        self.expect_front(page, "Fleet")
        expect(page.get_by_test_id("overview")).to_contain_text("3 need you")
        expect(page.get_by_test_id("where")).to_have_count(0)
        page.get_by_test_id("open-pages").click()
        items = page.get_by_role("menuitem")
        self.assertEqual("Fleet", items.first.inner_text().split("\n")[0])
        areas = page.locator("[role=menuitem][aria-haspopup=menu]")
        self.assertLessEqual(items.count() - areas.count(), 6)
        page.get_by_role("menuitem", name="Work").click()
        page.get_by_role("menuitem", name="Workspaces").click()
        self.expect_front(page, "Workspaces")
