"""Answers that reach what they were meant for, and numbers that come down to zero."""

from __future__ import annotations

from itertools import count
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import BrowserCase, PageTerminal, expect_focus, wait_until_on_page
from tests.browser.mock_service import MockService
from tests.waiting import SettledCondition

AGENT = "hexadecimal floats"
HELD = 2.5
"""Seconds: longer than a card keeps its place where nobody points."""
CAP = "each => getComputedStyle(each).borderTopColor"
UNDER = """([x, y]) => {
  const found = document.elementFromPoint(x, y);
  return found?.closest("article, .fleet-card")?.innerText ?? "";
}"""


def middle(element: Locator) -> tuple[float, float]:
    """The middle of an element, in pixels of the window."""
    box = element.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class DecideCase(BrowserCase):
    """A page of a service with three sessions that are blocked, and one that is done."""

    def setUp(self) -> None:
        super().setUp()
        self.mock = MockService()
        self.addCleanup(self.mock.close)

    def open(self, path: str = "", **options: Any) -> Page:
        options = {"viewport": {"width": 1440, "height": 900}, **options}
        page = self.page(f"{self.mock.url}{path}", **options)
        expect(page.get_by_test_id("approvals-count")).to_have_text("3")
        return page

    def pending(self) -> int:
        return len(self.mock.get("/api/approvals")["approvals"])

    def fleet_card(self, page: Page, name: str) -> Locator:
        return page.get_by_test_id("fleet-card").filter(has=page.get_by_text(name, exact=True))


class NumberKeyTests(DecideCase):
    def test_numbers_act_in_the_focused_fleet_card_only(self) -> None:
        page = self.open("/?page=fleet")
        card, other = self.fleet_card(page, AGENT), self.fleet_card(page, "choose the database")
        option = card.get_by_test_id("approval-option-3")
        option.wait_for()
        page.get_by_test_id("fleet-sum").click()
        page.keyboard.press("3")
        expect(option).to_be_enabled()
        self.assertEqual(4, self.pending())
        card.locator(".fleet-foot").click()
        shown = [each.locator("kbd").first.evaluate(CAP) for each in (card, other)]
        self.assertNotEqual("rgba(0, 0, 0, 0)", shown[0])
        self.assertEqual("rgba(0, 0, 0, 0)", shown[1])
        page.keyboard.press("3")
        expect(card).to_contain_text("Sent: No, and tell the agent")
        self.assertEqual(3, self.pending())


class PlaceTests(DecideCase):
    """Whoever presses twice answers one question."""

    def twice(self, page: Page, button: Locator, name: str) -> None:
        """Click on a button, and again on what lies there then."""
        x, y = middle(button)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.up()
        said = page.get_by_test_id("approval-sent")
        expect(said).to_contain_text("Sent: No")
        lasts = SettledCondition(lambda: page.evaluate(UNDER, [x, y]), HELD)
        wait_until_on_page(page, "a place that lasts", lasts)
        self.assertIn(name, page.evaluate(UNDER, [x, y]))
        page.mouse.down()
        page.mouse.up()
        self.assertEqual(3, self.pending())
        page.mouse.move(2, 2)
        expect(said).to_have_count(0)

    def test_answered_card_of_the_inbox_keeps_its_place(self) -> None:
        page = self.open()
        page.get_by_test_id("approvals-bell").click()
        first = page.get_by_test_id("approval").first
        self.twice(page, first.get_by_test_id("approval-option-3"), AGENT)
        expect(page.get_by_test_id("approval")).to_have_count(3)

    def test_answered_card_of_the_fleet_keeps_its_place(self) -> None:
        page = self.open("/?page=fleet", viewport={"width": 760, "height": 900})
        first = self.fleet_card(page, AGENT)
        self.twice(page, first.get_by_test_id("approval-option-3"), AGENT)

    def test_key_pressed_twice_answers_one_question(self) -> None:
        page = self.open()
        page.keyboard.press("Alt+Shift+A")
        expect_focus(page.get_by_test_id("approval").first)
        page.keyboard.press("3")
        expect(page.get_by_test_id("approval-sent")).to_be_visible()
        page.keyboard.press("2")
        expect(page.get_by_test_id("approval-sent")).to_have_count(0)
        self.assertEqual(3, self.pending())
        expect_focus(page.get_by_test_id("approval").first)

    def test_fleet_keeps_its_order_under_the_pointer(self) -> None:
        page = self.open("/?page=fleet")
        names = page.locator(".fleet-name")
        logs = page.get_by_test_id("fleet-row").filter(has_text="logs")
        expect(logs).to_be_visible()
        before = names.all_inner_texts()
        page.mouse.move(*middle(logs))
        self.mock.do("approval", kind="blind", id=self.mock.session("build"))
        expect(page.get_by_test_id("approvals-count")).to_have_text("4")
        self.assertEqual(before, names.all_inner_texts())
        page.mouse.move(2, 2)
        wait_until_on_page(page, "the new order", lambda: names.all_inner_texts() != before)

    def test_sidebar_keeps_its_order_under_the_pointer(self) -> None:
        page = self.open()
        names = page.locator(".side-name")
        expect(names.last).to_be_visible()
        before = names.all_inner_texts()
        page.mouse.move(*middle(names.last))
        self.mock.do("approval", kind="blind", id=self.mock.session("docs site"))
        self.mock.do("approval", kind="blind", id=self.mock.session("logs"))
        expect(page.get_by_test_id("approvals-count")).not_to_have_text("3")
        self.assertEqual(before, names.all_inner_texts())
        page.mouse.move(700, 400)
        wait_until_on_page(page, "the new order", lambda: names.all_inner_texts() != before)


class TrustTests(DecideCase):
    # The stand-in has no folders.
    expected = (r"status of 404",)

    def test_trust_in_the_folder_is_told_before_and_after_the_start(self) -> None:
        page = self.open()
        PageTerminal(page).ready()
        tip = page.get_by_test_id("tip")

        looks = count()

        def told() -> bool:
            # What draws itself meanwhile takes the tip away; a person moves the mouse again.
            if next(looks) % 10 == 0:
                page.mouse.move(700, 400)
                page.mouse.move(*middle(page.get_by_test_id("where")))
            return "Claude Code trusts this folder" in (tip.text_content() or "")

        wait_until_on_page(page, "the tip of the folder", told)
        page.keyboard.press("Alt+Shift+N")
        page.get_by_test_id("mode-primary").locator("label").click()
        expect(page.get_by_test_id("new-trust")).to_contain_text("Claude Code will trust")
        page.get_by_test_id("mode-shell").locator("label").click()
        expect(page.get_by_test_id("new-trust")).to_have_count(0)


class WordTests(DecideCase):
    def test_plan_is_read_in_the_card_and_its_widest_grant_is_not_marked(self) -> None:
        page = self.open()
        self.mock.do("approval", kind="plan", id=self.mock.session(AGENT))
        page.get_by_test_id("approvals-bell").click()
        card = page.get_by_test_id("approval").filter(has_text=AGENT)
        expect(card).to_contain_text("has a plan for you")
        plan = card.get_by_test_id("approval-plan")
        expect(plan.get_by_role("heading")).to_have_text("Move the login")
        size = "each => getComputedStyle(each).fontSize"
        texts = (plan.get_by_role("heading"), card.locator("kbd + span").first)
        sizes = [each.evaluate(size) for each in texts]
        self.assertEqual(1, len(set(sizes)), sizes)
        expect(plan.get_by_role("listitem")).to_have_count(2)
        expect(plan.locator("strong")).to_have_text("one")
        expect(card).not_to_contain_text("ExitPlanMode")
        expect(card).not_to_contain_text("Not in this summary")
        marked = card.locator("[data-leaning=yes]")
        expect(marked).to_have_count(1)
        expect(marked).to_contain_text("manually approve edits")

    def test_cards_say_what_an_agent_wants_and_name_no_tool(self) -> None:
        page = self.open()
        self.mock.do("approval", kind="trust", id=self.mock.session("build"))
        page.get_by_test_id("approvals-bell").click()
        card = page.get_by_test_id("approval").filter(has_text=AGENT)
        expect(card.locator(".approval-who")).to_contain_text("wants to run a command")
        expect(card.locator(".badge")).to_have_count(0)
        trust = page.get_by_test_id("approval").filter(has_text="Trust this folder?")
        expect(trust.locator(".approval-who")).to_contain_text("asks whether to trust this folder")
        expect(trust.locator(".choice-button")).to_have_text(
            ["1Trust and continue", "2Back to Agent Command Center", "Deny"]
        )
        expect(trust.locator("[data-leaning=yes]")).to_have_count(0)
        expect(trust.get_by_test_id("approval-unknown")).to_have_count(0)

    def test_question_has_options_one_field_and_one_way_to_skip(self) -> None:
        page = self.open()
        page.get_by_test_id("approvals-bell").click()
        card = page.get_by_test_id("approval").filter(has_text="choose the database")
        expect(card.locator(".choice-button")).to_have_text(["1PostgreSQL", "2SQLite", "Skip"])
        expect(card.locator("textarea")).to_have_count(1)


class CountTests(DecideCase):
    """One number for who is blocked, a second one for who is done."""

    def test_numbers_are_the_same_everywhere_and_reach_zero(self) -> None:
        page = self.open()
        expect(page.get_by_test_id("approvals-done")).to_have_text("1")
        wait_until_on_page(page, "the title", lambda: page.title().startswith("(3) "))
        page.keyboard.press("Alt+Shift+F")
        expect(page.get_by_test_id("fleet-sum")).to_contain_text("3 need you · 1 done")
        for left in (2, 1, 0):
            page.get_by_test_id("approvals-bell").click()
            page.get_by_test_id("approval-deny").or_(
                page.get_by_test_id("approval-option-3")
            ).first.click()
            page.mouse.move(2, 2)
            count = page.get_by_test_id("approvals-count")
            expect(count).to_have_count(0) if left == 0 else expect(count).to_have_text(str(left))
            expect(page.get_by_test_id("approval-sent")).to_have_count(0)
        wait_until_on_page(page, "the title", lambda: not page.title().startswith("("))
        expect(page.get_by_test_id("approvals-done")).to_have_text("1")
        page.get_by_text("write the changelog").first.click()
        expect(page.get_by_test_id("approvals-done")).to_have_count(0)
        expect(page.get_by_test_id("approvals-none")).to_be_visible()
        page.keyboard.press("Alt+Shift+F")
        expect(page.get_by_test_id("fleet-sum")).not_to_contain_text("need")
        expect(page.get_by_test_id("fleet-sum")).not_to_contain_text("done")
