"""Without a mouse, and without eyes: focus that shows, names for everything."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import (
    DELETED,
    BrowserCase,
    PageTerminal,
    expect_focus,
    wait_until_on_page,
)

NAMED = frozenset(
    (
        "button",
        "checkbox",
        "combobox",
        "dialog",
        "img",
        "link",
        "listbox",
        "menu",
        "menuitem",
        "menuitemradio",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "tabpanel",
        "textbox",
        "toolbar",
    )
)
# A ring is on the element, or on what stands for it: a label, a card, the terminal's own caret.
RING = """() => {
  let each = document.activeElement;
  if (!each || each === document.body) return "nothing";
  if (each.closest(".terminal-host")) return "";
  const near = [each, each.nextElementSibling, each.parentElement, each.closest(".choice, label")];
  const ringed = (one) => {
    const style = getComputedStyle(one);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 ||
      style.boxShadow !== "none";
  };
  return near.some((one) => one && ringed(one)) ? "" : each.outerHTML.slice(0, 200);
}"""
FOCUSED = """() => {
  const each = document.activeElement;
  return each.closest(".terminal-host") ? "terminal" :
    each.dataset.testid ?? each.getAttribute("role") ?? each.tagName;
}"""

# What has the focus before anything is painted: a key can come as early.
OPENED = """(button, key) => new Promise((tell) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => tell(document.activeElement.dataset.testid);
  if (key) dispatchEvent(new KeyboardEvent("keydown", key));
  else button.click();
  port2.postMessage("");
})"""


class KeyboardTests(BrowserCase):
    expected = (DELETED,)

    @pytest.mark.essential
    def test_sessions_are_made_used_and_closed_by_keyboard_alone(self) -> None:
        daemon = self.daemon()
        first = self.session(daemon, "one")
        terminal = self.terminal(daemon.url)
        page = terminal.page
        page.keyboard.press("Control+Shift+Slash")
        page.get_by_test_id("page-help").wait_for()
        page.keyboard.press("Escape")
        page.get_by_test_id("page-help").wait_for(state="detached")
        page.keyboard.press("Alt+Shift+N")
        page.get_by_test_id("new-more").wait_for()
        self.tab_to(page, "new-more")
        page.keyboard.press("Enter")
        self.tab_to(page, "new-name")
        page.keyboard.type("two")
        page.keyboard.press("Enter")
        wait_until_on_page(page, "the new one", lambda: terminal.attribute("session") != first)
        wait_until_on_page(page, "the focus", lambda: page.evaluate(FOCUSED) == "terminal")
        terminal.ready().run("echo made-$((1 + 0))").wait("made-1")
        page.keyboard.press("Alt+1")
        wait_until_on_page(page, "the first", lambda: terminal.attribute("session") == first)
        terminal.ready().run("echo old-$((1 + 0))").wait("old-1")
        page.keyboard.press("Alt+Shift+T")
        wait_until_on_page(page, "the tabs", lambda: page.evaluate(FOCUSED) == "tab")
        page.keyboard.press("ArrowRight")
        wait_until_on_page(page, "the second", lambda: terminal.attribute("session") != first)
        page.keyboard.press("Delete")
        page.get_by_test_id("ask-agree").focus()
        page.keyboard.press("Enter")
        wait_until_on_page(page, "one tab", lambda: page.get_by_test_id("tab").count() == 1)
        self.assertEqual(first, terminal.ready().attribute("session"))

    def tab_to(self, page: Page, wanted: str) -> None:
        """Press Tab until something has the focus; every stop on the way shows that it has."""
        for _ in range(30):
            self.assertEqual("", page.evaluate(RING))
            if page.evaluate(FOCUSED) == wanted:
                return
            page.keyboard.press("Tab")
        self.fail(f"no Tab leads to {wanted}")

    def test_keyboard_focus_order_runs_from_tabs_to_terminal(self) -> None:
        """From the tabs rightwards, then back into the terminal; each stop shows."""
        daemon = self.daemon()
        self.session(daemon)
        page = self.terminal(daemon.url).page
        page.keyboard.press("Alt+Shift+T")
        wait_until_on_page(page, "the tabs", lambda: page.evaluate(FOCUSED) == "tab")
        stops = []
        for _ in range(7):
            self.assertEqual("", page.evaluate(RING))
            stops.append(page.evaluate(FOCUSED))
            page.keyboard.press("Tab")
        want = ["tab", "new-session-button", "open-search", "open-layout", "toggle-panel"]
        self.assertEqual([*want, "approvals-bell", "open-pages"], stops)
        self.assertEqual("terminal", page.evaluate(FOCUSED))

    def test_focus_returns_to_the_terminal_from_dialogs(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url)
        page = terminal.page
        for keys, shown in (
            ("Control+Shift+Slash", "page-help"),
            ("Alt+Shift+S", "page-settings"),
            ("Alt+Shift+N", "new-session"),
            ("Alt+Shift+R", "rename"),
            ("Alt+Shift+H", "history"),
            ("Control+Shift+F", "search"),
        ):
            page.keyboard.press(keys)
            page.get_by_test_id(shown).wait_for()
            page.keyboard.press("Escape")
            page.get_by_test_id(shown).wait_for(state="detached")
            wait_until_on_page(page, shown, lambda: page.evaluate(FOCUSED) == "terminal")
        terminal.run("echo here-$((1 + 0))").wait("here-1")

    def test_opened_element_has_the_next_key(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        page = self.page(f"{daemon.url}/?page=models")
        page.get_by_test_id("models-enable").click()
        opener = page.get_by_test_id("endpoint-new")
        self.assertEqual("endpoint-label", opener.evaluate(OPENED))
        page.get_by_test_id("endpoint-label").fill("workshop")
        page.get_by_test_id("endpoint-url").fill("127.0.0.1")
        save = page.get_by_test_id("endpoint-save")
        self.assertEqual("endpoint-url", save.evaluate(OPENED))

        page = self.terminal(daemon.url).page
        for _ in range(2):  # its code is loaded when it is opened first
            page.keyboard.press("Control+Shift+K")
            page.get_by_test_id("palette").wait_for()
            page.keyboard.press("Escape")
            page.get_by_test_id("palette").wait_for(state="detached")
        key = {"code": "KeyK", "ctrlKey": True, "shiftKey": True}
        self.assertEqual("palette-field", page.locator("body").evaluate(OPENED, key))

    def test_closed_element_returns_the_next_key(self) -> None:
        """Also on a machine that comes to no frame for a while."""
        daemon = self.daemon()
        one, two = self.session(daemon, "one"), self.session(daemon, "two")
        terminal = self.terminal(f"{daemon.url}/?session={one}")
        page = terminal.page
        page.evaluate("window.requestAnimationFrame = () => 0")
        for key in ("Escape", "Enter"):
            page.keyboard.press("Alt+Shift+R")
            expect_focus(page.get_by_test_id("rename"))
            page.keyboard.press(key)
            expect_focus(terminal.element.locator("textarea"))
        tabs = page.get_by_test_id("tab")
        for key, first in (("ArrowRight", two), ("ArrowLeft", one)):
            page.locator(f"#tab-{one}").focus()
            page.keyboard.press(f"Control+Shift+{key}")
            expect(tabs.first).to_have_attribute("data-session", first)
            expect_focus(page.locator(f"#tab-{one}"))


class AccessibleNameTests(BrowserCase):
    def nameless(self, page: Page) -> list[Any]:
        """Controls of the accessibility tree that say nothing of themselves."""
        session = page.context.new_cdp_session(page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        session.detach()
        return [
            node
            for node in nodes
            if not node.get("ignored")
            and node.get("role", {}).get("value") in NAMED
            and not node.get("name", {}).get("value", "").strip()
        ]

    def test_every_control_has_an_accessible_name(self) -> None:
        daemon = self.daemon()
        page = self.page(daemon.url)
        page.get_by_test_id("empty").wait_for()
        self.assertEqual([], self.nameless(page))
        self.session(daemon)
        PageTerminal(page).ready().focus()
        self.assertEqual([], self.nameless(page))
        for keys, shown in (
            ("Alt+Shift+N", "new-session"),
            ("Alt+Shift+S", "page-settings"),
            ("Control+Shift+Slash", "page-help"),
            ("Alt+Shift+W", "ask"),
            ("Alt+Shift+H", "history"),
            ("Control+Shift+F", "search"),
        ):
            page.keyboard.press(keys)
            page.get_by_test_id(shown).wait_for()
            self.assertEqual([], self.nameless(page), shown)
            page.keyboard.press("Escape")
            page.get_by_test_id(shown).wait_for(state="detached")
        page.get_by_role("tab").click(button="right")
        page.get_by_test_id("menu").wait_for()
        self.assertEqual([], self.nameless(page))

    def test_every_control_of_the_login_form_has_an_accessible_name(self) -> None:
        self.expected = (r"responded with a status of 401",)
        daemon = self.daemon(SERVICE_PASSWORD="secret word")
        page = self.page(daemon.url)
        page.get_by_test_id("login").wait_for()
        self.assertEqual([], self.nameless(page))
