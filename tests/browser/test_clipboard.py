"""Copying, and pasting without running what was not meant to run."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.harness import (
    BrowserCase,
    PageTerminal,
    put_into_clipboard,
    read_clipboard,
    wait_until_on_page,
)


class ClipboardTests(BrowserCase):
    def opened(self, url: str) -> PageTerminal:
        context = self.context()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        return self.terminal(url, context)

    def put(self, page: Page, text: str) -> None:
        put_into_clipboard(page, text)

    def paste(self, page: Page) -> None:
        """By the terminal's own menu, which reads the clipboard as every way to paste does."""
        page.locator(".holder").click(button="right")
        page.get_by_test_id("menu").get_by_role("menuitem", name="Paste").click()

    def bracket(self, terminal: PageTerminal) -> None:
        """Have the shell mark pastes, which it asks the terminal for before each prompt."""
        terminal.run("bind 'set enable-bracketed-paste on'").run("echo set-$((1 + 0))")
        terminal.wait("set-1").wait(r"\$")

    def test_selection_is_copied_to_the_clipboard(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.opened(daemon.url).run("echo copy-$((1 + 0))").wait("copy-1")
        page = terminal.page
        page.locator(".holder").click(button="right")
        page.get_by_test_id("menu").get_by_role("menuitem", name="Select all").click()
        page.keyboard.press("Control+Shift+C")
        wait_until_on_page(
            page, "a copy", lambda: "\ncopy-1\n" in (read_clipboard(page) or "").replace("\r", "")
        )

    def test_bracketed_paste_of_lines_arrives_as_one(self) -> None:
        """The shell marks pastes: nothing runs before Enter, then all of it."""
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.opened(daemon.url)
        page = terminal.page
        self.bracket(terminal)
        self.put(page, "echo one > first\necho two-$((1 + 1))")
        self.paste(page)
        terminal.wait(r"echo two-\$\(\(1 \+ 1\)\)")
        self.assertEqual(0, page.get_by_test_id("ask").count())
        self.assertFalse((daemon.home / "first").exists())
        page.keyboard.press("Enter")
        terminal.wait("two-2")
        self.assertEqual("one\n", (daemon.home / "first").read_text())

    def test_pasted_lines_that_would_run_need_confirmation(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        # What runs tells that the shell itself, which may mark pastes, no longer reads.
        terminal = self.opened(daemon.url).run("echo go-$((1 + 0)); cat > got").wait("go-1")
        page = terminal.page
        self.put(page, "alpha\nbeta\n")
        self.paste(page)
        question = page.get_by_test_id("ask")
        question.wait_for()
        self.assertIn("Paste 2 lines?", question.inner_text())
        page.keyboard.press("Escape")
        question.wait_for(state="detached")
        self.paste(page)
        page.get_by_test_id("ask-agree").click()
        terminal.wait("beta")
        page.keyboard.press("Control+D")
        terminal.run("echo end-$((1 + 0))").wait("end-1")
        self.assertEqual("alpha\nbeta\n", (daemon.home / "got").read_text())

    def test_pasted_text_cannot_end_its_own_brackets(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.opened(daemon.url)
        self.bracket(terminal)
        self.put(terminal.page, "echo a\x1b[201~\recho escaped-$((1 + 1)) > out\r")
        self.paste(terminal.page)
        terminal.wait(r".*escaped-\$.*")
        # Whatever had run would have done so before this.  An interrupt that comes while bash draws
        # a paste has it run most of that.
        terminal.page.keyboard.press("Control+U")
        terminal.run("echo end-$((1 + 0))").wait("end-1")
        self.assertFalse((daemon.home / "out").exists(), "\n".join(terminal.screen()))

    def test_native_paste_event_of_the_browser_reaches_the_terminal(self) -> None:
        """Ctrl+Shift+V and the paste of the browser's menu are one event of the page."""
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.opened(daemon.url)
        terminal.element.evaluate(
            """element => {
              const clipboardData = new DataTransfer();
              clipboardData.setData("text/plain", "echo event-$((1 + 0))");
              element.querySelector("textarea").dispatchEvent(
                new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
            }"""
        )
        terminal.wait(r"\$ echo event-\$\(\(1 \+ 0\)\)")
        terminal.page.keyboard.press("Enter")
        terminal.wait("event-1")
