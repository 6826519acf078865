"""Pages beside the live terminal, and what a document looks like there, in a real Chromium."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import git_repositories
from tests.browser.harness import (
    PHONE,
    BrowserCase,
    PageTerminal,
    expect_focus,
    is_uncovered,
    wait_until_on_page,
)
from tests.browser.picture_files import make_picture
from tests.integration.harness import DaemonHarness

GUIDE = """# Guide

Some **strong** words, `code` and <b onclick="alert(1)">raw</b>.

- [x] done
- [ ] not yet

| a | b |
|---|--:|
| 1 | 2 |

[next](sub/next.md) · [web](https://example.org/) · [bad](javascript:alert(1)) · [end](#the-end)

![own](../picture.png) ![far](https://example.org/far.png)

## The end
"""


class PanelTests(BrowserCase):
    service: DaemonHarness
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        (cls.service.home / ".bash_profile").write_text("PS1='$ '\n")
        cls.service.start()
        cls.folder = git_repositories.make_busy_repository(cls.service.home / "w")
        (cls.folder / "docs" / "sub").mkdir(parents=True)
        (cls.folder / "docs" / "guide.md").write_text(GUIDE)
        (cls.folder / "docs" / "sub" / "next.md").write_text("# Next\n")
        (cls.folder / "picture.png").write_bytes(make_picture())

    def open(self, address: str = "", **options: Any) -> PageTerminal:
        made = self.session(self.service, workingDir=str(self.folder))
        self.addCleanup(lambda: self.service.request("DELETE", f"/api/sessions/{made}").data())
        return self.terminal(f"{self.service.url}/?session={made}{address}", **options)

    @pytest.mark.essential
    def test_files_open_next_to_the_terminal(self) -> None:
        terminal = self.open(viewport={"width": 1440, "height": 900})
        page = terminal.page
        before = int(terminal.attribute("cols") or 0)
        page.keyboard.press("Alt+Shift+L")
        panel = page.get_by_test_id("page-files")
        expect_focus(panel.locator("h2").first)
        expect(page.locator("dialog[open]")).to_have_count(0)
        wait_until_on_page(
            page, "fewer columns", lambda: int(terminal.attribute("cols") or 0) < before - 20
        )
        page.keyboard.press("Escape")
        terminal.ready().run("echo src/walk.py:7: wrong; echo be''side").wait("beside")

        row = terminal.screen().index("src/walk.py:7: wrong")
        cell = terminal.element.locator(".xterm-screen").bounding_box()
        assert cell is not None
        high = cell["height"] / int(terminal.attribute("rows") or 1)
        page.keyboard.down("Control")
        # The pointer has to move for the page to look what is below it.
        steps = cycle((30, 34))

        def told() -> int:
            page.mouse.move(cell["x"] + next(steps), cell["y"] + (row + 0.5) * high)
            return terminal.element.locator("[title*='line 7']").count()

        wait_until_on_page(page, "a link", told)
        page.mouse.click(cell["x"] + 34, cell["y"] + (row + 0.5) * high)
        page.keyboard.up("Control")
        expect(panel.locator(".cm-activeLine")).to_contain_text("src/walk.py line 7")

        now = int(terminal.attribute("cols") or 0)
        page.get_by_test_id("panel-edge").focus()
        for _ in range(4):
            page.keyboard.press("ArrowLeft")
        wait_until_on_page(
            page, "a wider panel", lambda: int(terminal.attribute("cols") or 0) < now
        )
        page.get_by_test_id("panel-git").click()
        expect(page.get_by_test_id("git-panel")).to_contain_text("walk.py")
        page.keyboard.press("Alt+Shift+S")
        expect(page.get_by_test_id("page-settings")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("page-settings")).to_have_count(0)
        page.reload()
        expect(page.get_by_test_id("git-panel")).to_contain_text("walk.py")
        PageTerminal(page).ready().run("echo aga''in").wait("again")

        page.set_viewport_size({"width": 1000, "height": 800})
        expect(page.get_by_test_id("git-panel")).to_have_count(0)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.get_by_test_id("panel-close").click()
        wait_until_on_page(
            page, "all columns", lambda: int(terminal.attribute("cols") or 0) == before
        )

    def test_terminal_keeps_its_columns_under_a_panel_beside_the_sidebar(self) -> None:
        terminal = self.open(viewport={"width": 1280, "height": 800})
        page = terminal.page
        alone = terminal.attribute("cols")
        page.get_by_test_id("toggle-sidebar").click()
        page.get_by_test_id("sidebar").wait_for()
        wait_until_on_page(page, "fewer columns", lambda: terminal.attribute("cols") != alone)
        before = terminal.attribute("cols")
        page.keyboard.press("Alt+Shift+L")
        panel = page.get_by_test_id("page-files")
        expect_focus(panel.locator("h2").first)
        box, room = panel.bounding_box(), page.get_by_test_id("terminal").first.bounding_box()
        assert box is not None
        assert room is not None
        self.assertLess(box["x"], room["x"] + room["width"])
        page.keyboard.press("Escape")
        terminal.ready().run("echo =$COLUMNS=").wait(f"={before}=")
        self.assertEqual(before, terminal.attribute("cols"))

    def test_every_page_of_the_panel_is_named_in_full(self) -> None:
        page = self.open("&page=cron", viewport={"width": 1440, "height": 900}).page
        choices = page.locator(".panel-choice")
        expect(choices).to_have_count(6)
        for choice in choices.all():
            self.assertTrue(is_uncovered(choice), choice.inner_text())

    def test_panel_renders_a_markdown_document(self) -> None:
        terminal = self.open("&page=files", viewport={"width": 1440, "height": 900})
        page = terminal.page
        self.guide(page)
        guide = page.get_by_test_id("markdown")
        expect(guide.locator("strong")).to_have_text("strong")
        expect(guide).to_contain_text('<b onclick="alert(1)">')
        expect(guide.locator("b")).to_have_count(0)
        expect(guide.locator("td").nth(1)).to_have_css("text-align", "right")
        expect(guide.get_by_role("checkbox").first).to_be_checked()
        image = guide.locator("img")
        wait_until_on_page(
            page, "the picture", lambda: image.evaluate("each => each.naturalWidth") == 4
        )
        hrefs = guide.locator("a").evaluate_all("all => all.map((each) => each.href)")
        self.assertEqual(["https://example.org/", "https://example.org/far.png"], hrefs)

        page.get_by_test_id("file-preview").click()
        page.get_by_test_id("text").locator(".cm-content").click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("New words first.\n\n")
        page.get_by_test_id("file-preview").click()
        expect(guide.locator("p").first).to_have_text("New words first.")
        expect(page.get_by_test_id("file-state")).to_have_text("Unsaved changes")
        guide.get_by_role("button", name="next").click()
        expect(guide.get_by_role("heading", name="Next")).to_be_visible()

    def test_files_cover_the_terminal_on_a_phone(self) -> None:
        page = self.open("&page=files", **PHONE).page
        expect(page.locator("dialog[open]")).to_have_count(1)
        self.guide(page)
        expect(page.get_by_test_id("markdown").locator("strong")).to_be_visible()
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))

    def guide(self, page: Any) -> None:
        for path in ("docs", "docs/guide.md"):
            page.locator(f"[data-testid=file][data-path='{path}']").click()
