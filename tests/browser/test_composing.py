"""Input methods in Safari's order: the key that ends a conversion does nothing else."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import DELETED, BrowserCase, PageTerminal, expect_focus
from tests.browser.mock_service import MockService

WORDS = "日本語"
HEARD = """() => {
  globalThis.heard = [];
  const note = (event) => heard.push(
    event.type === "keydown" ? `${event.key} ${event.isComposing} ${event.keyCode}` : event.type);
  for (const name of ["compositionend", "keydown"]) addEventListener(name, note, true);
}"""
SAFARI = ["compositionend", "{key} false 229"]


def convert(page: Page, key: str = "Enter") -> None:
    """Write C{WORDS} by an input method, and end the conversion with a key.

    As in Safari the composition is over before the key comes, whose code is 229.  Chromium is
    given a text with it, so that it would send a form or break a line.
    """
    session = page.context.new_cdp_session(page)
    ime = {"text": WORDS, "selectionStart": 3, "selectionEnd": 3}
    session.send("Input.imeSetComposition", ime)
    session.send("Input.insertText", {"text": WORDS})
    pressed = {"key": key, "code": key, "windowsVirtualKeyCode": 229}
    text = {"text": "\r"} if key == "Enter" else {}
    session.send("Input.dispatchKeyEvent", {"type": "keyDown", **pressed, **text})
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **pressed})
    session.detach()


class ComposingTests(BrowserCase):
    """Every field that acts on Enter."""

    expected = (DELETED, "the Push API in incognito mode")

    def front(self, url: str) -> Page:
        """A page that notes its keys before its own code hears of them."""
        context = self.context()
        context.add_init_script(f"({HEARD})()")
        return self.page(url, context)

    def shell(self) -> Page:
        daemon = self.daemon()
        self.session(daemon)
        page = self.front(daemon.url)
        PageTerminal(page).ready()
        return page

    def converts(self, field: Locator, key: str = "Enter") -> None:
        """The words stay in the field, which stays."""
        expect_focus(field)
        field.fill("")
        page = field.page
        page.evaluate("() => { heard = [] }")
        convert(page, key)
        self.assertEqual([each.format(key=key) for each in SAFARI], page.evaluate("heard"))
        expect_focus(field)
        self.assertEqual(WORDS, field.input_value().strip("\n"))

    def test_palette_and_search_stay_open_during_composition(self) -> None:
        page = self.shell()
        page.keyboard.press("Control+Shift+K")
        self.converts(page.get_by_test_id("palette-field"))
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Shift+F")
        search = page.get_by_test_id("search").get_by_role("searchbox")
        for key in ("Enter", "Escape"):
            self.converts(search, key)

    def test_session_name_accepts_composed_text(self) -> None:
        page = self.shell()
        page.keyboard.press("Alt+Shift+R")
        field = page.get_by_test_id("rename")
        for key in ("Enter", "Escape"):
            self.converts(field, key)
        page.keyboard.press("Enter")
        expect(field).to_have_count(0)
        expect(page).to_have_title(re.compile(WORDS))

    def test_composition_creates_no_case_and_no_session(self) -> None:
        page = self.shell()
        page.keyboard.press("Alt+Shift+N")
        form = page.get_by_test_id("new-session")
        page.get_by_test_id("new-place").click()
        form.get_by_text("New", exact=True).click()
        field = page.get_by_test_id("inline-field")
        field.focus()
        self.converts(field)
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(form).to_be_visible()

    def test_prompt_is_not_sent_during_composition(self) -> None:
        mock = MockService()
        self.addCleanup(mock.close)
        page = self.front(mock.url)
        field = page.get_by_test_id("prompt-field")
        field.click()
        self.converts(field)
        expect(page.get_by_test_id("prompt-outcome")).to_have_text("")
        page.keyboard.press("Control+Enter")
        expect(field).to_have_value("")

    def test_free_text_answer_is_not_sent_during_composition(self) -> None:
        mock = MockService()
        self.addCleanup(mock.close)
        page = self.front(mock.url)
        page.get_by_test_id("approvals-bell").click()
        field = page.get_by_test_id("approval-text").first
        field.focus()
        self.converts(field)
        expect(page.get_by_test_id("approval")).to_have_count(4)
