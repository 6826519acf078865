"""A phone: 390 pixels, a finger, no keyboard of its own."""

from __future__ import annotations

from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import (
    PHONE,
    TOO_WIDE,
    BrowserCase,
    PageTerminal,
    expect_focus,
    wait_until_on_page,
)

SIDES = """buttons => buttons.map((each) => {
  const { width, height } = each.getBoundingClientRect();
  // Thousandths of a pixel come of moving things about.
  return [each.innerHTML, each.dataset.arrow, Math.round(100 * Math.min(width, height)) / 100];
})"""


def finger(page: Page, begin: tuple[int, int], end: tuple[int, int]) -> None:
    """One finger that goes down at a point, moves to another in steps and is lifted there."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    touch("touchStart", begin)
    for step in range(1, 7):
        part = step / 6
        x, y = (begin[at] + (end[at] - begin[at]) * part for at in (0, 1))
        touch("touchMove", (x, y))
    touch("touchEnd")
    session.detach()


def box(element: Locator) -> dict[str, float]:
    """Where an element is, in pixels of the page."""
    found: dict[str, float] = element.evaluate("each => each.getBoundingClientRect().toJSON()")
    return found


class PhoneLayoutTests(BrowserCase):
    def phone(self, url: str) -> PageTerminal:
        """A terminal that a finger has touched: only then does a phone show its keyboard."""
        terminal = self.terminal(url, **PHONE)
        terminal.element.tap()
        return terminal

    def fits(self, page: Page) -> None:
        """Nothing of the page has to be scrolled for sideways."""
        width = page.evaluate("() => document.documentElement.scrollWidth")
        self.assertLessEqual(width, 390)
        self.assertEqual([], page.evaluate(TOO_WIDE))

    @pytest.mark.essential
    def test_key_bar_of_a_phone_sends_its_keys(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.phone(daemon.url)
        # What runs tells that the shell itself no longer reads.
        terminal.run("echo go-$((1 + 0)); cat -vT").wait("go-1")
        for key in ("Escape", "Tab", "Up", "Down", "Right", "Left", "Enter"):
            terminal.page.get_by_test_id(f"key-{key}").tap()
        terminal.wait(r"\^\[\^I\^\[\[A\^\[\[B\^\[\[C\^\[\[D")
        terminal.page.get_by_test_id("key-Interrupt").tap()
        terminal.wait(r"\^C")
        terminal.run("echo free-$((1 + 1))").wait("free-2")

    def test_key_bar_modifier_holds_for_one_key(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.phone(daemon.url)
        terminal.run("echo go-$((1 + 0)); cat -v").wait("go-1")
        control = terminal.page.get_by_test_id("key-Ctrl")
        control.tap()
        expect(control).to_have_attribute("aria-pressed", "true")
        terminal.type("a")
        wait_until_on_page(
            terminal.page, "a free key", lambda: control.get_attribute("aria-pressed") == "false"
        )
        terminal.type("a\n").wait(r"\^Aa")

    def test_keys_do_not_reach_a_covered_terminal(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        tablet = {**PHONE, "viewport": {"width": 820, "height": 1100}}
        page = self.terminal(daemon.url, **tablet).page
        keys = page.locator(".keys")
        expect(keys).to_be_visible()
        expect(keys).not_to_have_attribute("inert", "")
        page.keyboard.press("Alt+Shift+S")
        expect(page.get_by_test_id("page-settings")).to_be_visible()
        expect(keys).to_have_attribute("inert", "")
        page.get_by_role("button", name="Close dialog").click()
        expect(keys).not_to_have_attribute("inert", "")

    def test_no_phone_page_is_wider_than_the_screen(self) -> None:
        daemon = self.daemon()
        self.session(daemon, name="a session with quite a long name that fits nowhere " * 2)
        page = self.phone(daemon.url).page
        self.fits(page)
        for openers, shown in (
            (("current",), "drawer"),
            (("current", "drawer-new"), "new-session"),
            (("current", "drawer-pages"), "menu"),
            (("key-more",), "menu"),
        ):
            for opener in openers:
                page.get_by_test_id(opener).tap()
            page.get_by_test_id(shown).wait_for()
            self.fits(page)
            page.keyboard.press("Escape")
            page.get_by_test_id(shown).wait_for(state="detached")
            if "drawer-pages" in openers:
                page.keyboard.press("Escape")
            page.get_by_test_id("drawer").wait_for(state="detached")

    def test_drawer_of_a_phone_switches_the_session(self) -> None:
        daemon = self.daemon()
        self.session(daemon, "one")
        other = self.session(daemon, "two")
        page = self.phone(daemon.url).page
        page.get_by_test_id("current").tap()
        page.locator(f"[data-testid=drawer-session][data-session='{other}']").tap()
        page.get_by_test_id("drawer").wait_for(state="detached")
        # The drawer closes before the terminals change places.
        wait_until_on_page(page, "the session", partial(self.shows, PageTerminal(page), other))
        PageTerminal(page).ready()
        expect(page.locator(".current-name")).to_have_text("two")
        # Its name is written where it stands.
        page.get_by_test_id("current").tap()
        page.get_by_role("button", name="Actions for two").tap()
        page.get_by_role("menuitem", name="Rename").tap()
        field = page.get_by_test_id("drawer").get_by_test_id("rename")
        expect_focus(field)
        page.keyboard.type("another")
        page.keyboard.press("Enter")
        expect(page.locator(".current-name")).to_have_text("another")
        page.get_by_test_id("drawer").wait_for()

    def test_every_touch_target_of_the_phone_page_is_large_enough(self) -> None:
        """44 pixels, on the page and in its list; Up and Down share the height of a key."""
        daemon = self.daemon()
        self.session(daemon)
        page = self.phone(daemon.url).page
        self.targets(page)
        page.get_by_test_id("current").tap()
        page.get_by_test_id("drawer-new").wait_for()
        self.targets(page)

    def targets(self, page: Page) -> None:
        # All of one moment: what comes and goes by itself would shift the rest.
        for html, arrow, side in page.locator("button:visible").evaluate_all(SIDES):
            least = 24 if arrow in ("Up", "Down") else 44
            self.assertGreaterEqual(side, least, html)

    def test_swipe_opens_the_next_session_and_a_scroll_does_not(self) -> None:
        daemon = self.daemon()
        first, second = self.session(daemon, "one"), self.session(daemon, "two")
        terminal = self.phone(f"{daemon.url}/?session={first}")
        for path, then in ((((300, 300), (120, 310)), second), (((200, 300), (230, 420)), second),
                           (((100, 300), (300, 290)), first)):  # fmt: skip
            finger(terminal.page, *path)
            wait_until_on_page(
                terminal.page,
                "the session",
                partial(self.shows, terminal, then),
            )
            PageTerminal(terminal.page).ready()

    def shows(self, terminal: PageTerminal, session: str) -> bool:
        return terminal.attribute("session") == session

    def test_phone_shows_name_and_bell_above_and_keys_in_one_row(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.phone(daemon.url).page
        shown = page.locator(".topbar button:visible")
        names = [button.get_attribute("data-testid") for button in shown.all()]
        self.assertEqual(["current", "approvals-bell"], names)
        row = page.get_by_test_id("keyrow")
        tops = {round(box(key)["y"]) for key in row.locator("button").all()}
        self.assertEqual(1, len(tops))
        self.assertTrue(row.evaluate("each => each.scrollWidth > each.clientWidth"))
        keys = [page.get_by_test_id(f"key-{name}") for name in ("Up", "Down", "Left")]
        up, down, left = (box(key) for key in keys)
        self.assertEqual(up["x"], down["x"])
        self.assertLess(up["y"], down["y"])
        self.assertLess(left["x"], up["x"])

    def test_terminal_text_is_drawn_on_an_emulated_dense_screen(self) -> None:
        """Its device pixels are not what the browser counts, so WebGL would draw a corner."""
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.phone(daemon.url).run("echo drawn-$((1 + 0))").wait("drawn-1")
        self.assertEqual("dom", terminal.attribute("renderer"))
        # The frame after the one in which the text arrived.
        expect(terminal.element.locator(".xterm-rows")).to_contain_text("drawn-1")
