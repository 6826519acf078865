"""A phone: 390 pixels, a finger, no keyboard of its own."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.harness import PHONE, BrowserCase, Terminal, until

TOO_WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((each) => !each.closest(".terminal-host, .offscreen"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5)
  .map((each) => each.className)"""


class PhoneTests(BrowserCase):
    def phone(self, url: str) -> Terminal:
        """A terminal that a finger has touched: only then does a phone show its keyboard."""
        terminal = self.terminal(url, **PHONE)
        terminal.element.tap()
        return terminal

    def fits(self, page: Page) -> None:
        """Nothing of the page has to be scrolled for sideways."""
        width = page.evaluate("() => document.documentElement.scrollWidth")
        self.assertLessEqual(width, 390)
        self.assertEqual([], page.evaluate(TOO_WIDE))

    def test_keys_of_the_bar(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.phone(daemon.url)
        terminal.run("cat -vT").wait(r"\$ cat -vT")
        for key in ("Escape", "Tab", "Up", "Down", "Right", "Left", "Enter"):
            terminal.page.get_by_test_id(f"key-{key}").tap()
        terminal.wait(r"\^\[\^I\^\[\[A\^\[\[B\^\[\[C\^\[\[D")
        terminal.page.get_by_test_id("key-Interrupt").tap()
        terminal.wait(r"\^C")
        terminal.run("echo free-$((1 + 1))").wait("free-2")

    def test_a_modifier_holds_for_one_key(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.phone(daemon.url)
        terminal.run("cat -v").wait(r"\$ cat -v")
        control = terminal.page.get_by_test_id("key-Ctrl")
        control.tap()
        self.assertEqual("true", control.get_attribute("aria-pressed"))
        terminal.type("a")
        until(terminal.page, "a free key", lambda: control.get_attribute("aria-pressed") == "false")
        terminal.type("a\n").wait(r"\^Aa")

    def test_nothing_is_wider_than_the_screen(self) -> None:
        daemon = self.daemon()
        self.session(daemon, name="a session with quite a long name that fits nowhere " * 2)
        page = self.phone(daemon.url).page
        self.fits(page)
        for opener, shown in (
            ("open-drawer", "drawer"),
            ("new-session-button", "new-session"),
            ("session-actions", "menu"),
            ("open-pages", "menu"),
            ("key-more", "menu"),
        ):
            page.get_by_test_id(opener).tap()
            page.get_by_test_id(shown).wait_for()
            self.fits(page)
            page.keyboard.press("Escape")
            page.get_by_test_id(shown).wait_for(state="detached")

    def test_the_drawer_changes_the_session(self) -> None:
        daemon = self.daemon()
        self.session(daemon, "one")
        other = self.session(daemon, "two")
        page = self.phone(daemon.url).page
        page.get_by_test_id("open-drawer").tap()
        page.locator(f"[data-testid=drawer-session][data-session='{other}']").tap()
        page.get_by_test_id("drawer").wait_for(state="detached")
        terminal = Terminal(page).ready()
        self.assertEqual(other, terminal.attribute("session"))
        self.assertEqual("two", page.locator(".current-name").inner_text())

    def test_every_target_is_large_enough_for_a_finger(self) -> None:
        """WCAG 2.2, 2.5.8: at least 24 pixels; the keys of the bar more."""
        daemon = self.daemon()
        self.session(daemon)
        page = self.phone(daemon.url).page
        for button in page.locator("button:visible").all():
            box = button.bounding_box() or {"width": 0, "height": 0}
            self.assertGreaterEqual(min(box["width"], box["height"]), 24, button.inner_html())

    def test_text_is_drawn_on_an_emulated_dense_screen(self) -> None:
        """Its device pixels are not what the browser counts, so WebGL would draw a corner."""
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.phone(daemon.url).run("echo drawn-$((1 + 0))").wait("drawn-1")
        self.assertEqual("dom", terminal.attribute("renderer"))
        # The frame after the one in which the text arrived.
        expect(terminal.element.locator(".xterm-rows")).to_contain_text("drawn-1")
