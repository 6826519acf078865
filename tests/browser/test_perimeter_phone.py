"""The perimeter's pages by thumb, by keyboard alone, and for screen readers."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.access_harness import PHONE, PerimeterCase
from tests.browser.harness import expect_focus, has_focus, wait_until_on_page

TITLES = ("Devices and QR code", "Tokens", "Users", "Audit log", "Settings")

OVERFLOWING = """() => {
  const box = document.querySelector("dialog[open] .dialog-content");
  const wide = [...box.querySelectorAll("*")].filter((each) => {
    const { right, width } = each.getBoundingClientRect();
    const hidden = each.closest(".offscreen, .sr-only, .settings-nav > *");
    return !hidden && width > 0 && right > innerWidth + 0.5;
  });
  return wide.map((each) => `${each.tagName}.${each.className}`);
}"""

NAMELESS = """() =>
  [...document.querySelectorAll("dialog[open] :is(button, input, select, img, a)")]
    .filter((each) => !each.closest("[aria-hidden=true], [aria-hidden=true] *"))
    .filter((each) => {
      const label = each.labels?.[0]?.innerText ?? "";
      const own = each.getAttribute("aria-label") ?? each.alt ?? "";
      return (label + own + each.innerText).trim() === "";
    })
    .map((each) => each.outerHTML.slice(0, 120))"""


class PagesTests(PerimeterCase):
    def setUp(self) -> None:
        super().setUp()
        self.running = self.people(SERVICE_TUNNEL_COMMAND=self.tunnel_program())

    def fill(self, page: Page, title: str) -> None:
        """Bring up as much of a page as it has."""
        if title == "Devices and QR code":
            start = page.get_by_test_id("tunnel-start")
            image = page.get_by_test_id("qr-image")
            expect(start.or_(image)).to_be_visible()
            if start.is_visible():
                start.click()
            expect(image).to_be_visible()
        elif title in ("Tokens", "Users"):
            page.get_by_test_id("new-token" if title == "Tokens" else "new-user").click()
        elif title == "Audit log":
            expect(page.get_by_test_id("entry").first).to_be_visible()

    def every_page(self, script: str, **options: Any) -> dict[str, object]:
        """What a script finds on each page."""
        page = self.enter(self.running, **options)
        found = {}
        for title in TITLES:
            self.open_page(page, title)
            self.fill(page, title)
            found[title] = page.evaluate(script)
            self.close_page(page)
        return found

    def test_no_page_is_cut_off_on_a_phone(self) -> None:
        self.assertEqual({title: [] for title in TITLES}, self.every_page(OVERFLOWING, **PHONE))

    def test_every_control_has_an_accessible_name_on_a_phone(self) -> None:
        self.assertEqual({title: [] for title in TITLES}, self.every_page(NAMELESS))

    def test_token_is_created_by_keyboard_alone(self) -> None:
        page = self.enter(self.running)
        page.get_by_test_id("open-pages").focus()
        page.keyboard.press("Enter")
        menu = page.get_by_role("menuitem")
        expect_focus(menu.first)
        for title in ("Access", "Tokens"):
            for place in range(menu.all_inner_texts().index(title)):
                page.keyboard.press("ArrowDown")
                expect_focus(menu.nth(place + 1))
            page.keyboard.press("Enter")
            expect(menu.filter(has_text=title)).to_have_count(0)
        expect(page.get_by_role("dialog", name="Tokens")).to_be_visible()
        self.tab_to(page, "new-token")
        page.keyboard.press("Enter")
        expect_focus(page.get_by_test_id("new-token-name"))
        page.keyboard.type("by hand")
        self.tab_to(page, "scope-waits")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect_focus(page.get_by_test_id("secret"))
        self.tab_to(page, "secret-done")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("token")).to_contain_text("Wait")
        self.tab_to(page, "token-revoke")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("ask")).to_be_visible()
        page.keyboard.press("Escape")
        expect_focus(page.get_by_test_id("token-revoke"))
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)

    def tab_to(self, page: Page, testid: str) -> None:
        """Press Tab until something has the focus."""
        wanted = page.get_by_test_id(testid)
        expect(wanted).to_be_visible()

        def step() -> bool:
            page.keyboard.press("Tab")
            return has_focus(wanted)

        wait_until_on_page(page, f"the focus on {testid}", step)

    def test_closed_form_returns_the_focus(self) -> None:
        page = self.enter(self.running)
        self.open_page(page, "Users")
        page.get_by_test_id("new-user").click()
        expect_focus(page.get_by_test_id("new-user-name"))
        page.get_by_role("button", name="Cancel").press("Enter")
        expect_focus(page.get_by_test_id("new-user"))
