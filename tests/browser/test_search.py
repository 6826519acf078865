"""Finding text on the screen, in what the page holds, and in the whole history."""

from __future__ import annotations

from tests.browser.harness import READ, BrowserCase, until

MANY = "for i in {1..3000}; do echo row $i of many; done; echo needle-$((1 + 0))"


class SearchTests(BrowserCase):
    def test_in_the_scrollback(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url).run("echo early-$((1 + 0)); seq 1 300").wait("300")
        page = terminal.page
        page.keyboard.press("Control+Shift+F")
        page.keyboard.type("early-1")
        count = page.locator(".search-count")
        until(page, "a match", lambda: count.inner_text() == "1 of 1")
        until(page, "a way back", page.get_by_test_id("to-end").is_visible)
        page.keyboard.press("Control+A")
        page.keyboard.type("not there")
        until(page, "no match", lambda: count.inner_text() == "nothing found")
        page.keyboard.press("Escape")
        page.get_by_test_id("search").wait_for(state="detached")
        terminal.run("echo typed-$((1 + 0))").wait("typed-1")

    def test_in_the_whole_history(self) -> None:
        """Older than what the page keeps."""
        daemon = self.daemon()
        self.session(daemon)
        context = self.context()
        context.add_init_script(
            "localStorage.setItem('tservice.prefs', JSON.stringify({ scrollback: 500 }))"
        )
        terminal = self.terminal(daemon.url, context).run(MANY).wait("needle-1")
        page = terminal.page
        self.assertNotIn("row 7 of many", terminal.read()["lines"])
        page.keyboard.press("Control+Shift+F")
        page.keyboard.type("row 7 of many")
        page.get_by_test_id("search-history").click()
        matches = page.get_by_test_id("history-match")
        until(page, "one match", lambda: matches.count() == 1)
        self.assertIn("row 7 of many", matches.first.inner_text())
        grid = page.locator("[data-testid=history-grid][data-painted]")
        grid.wait_for()
        self.assertIn("row 7 of many", grid.evaluate(READ)["lines"])
        page.get_by_test_id("history-query").fill("needle-1")
        until(page, "the other", lambda: "needle-1" in matches.last.inner_text())
        matches.last.click()
        page.keyboard.press("Escape")
        page.get_by_test_id("history").wait_for(state="detached")
