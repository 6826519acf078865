"""A service of its own for each test of the page of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import BrowserCase
from tests.integration.harness import DaemonHarness


class BrowserGitCase(BrowserCase):
    def setUp(self) -> None:
        super().setUp()
        self.service: DaemonHarness = self.daemon()

    def at(self, folder: Path, name: str = "one") -> str:
        return self.session(self.service, name, workingDir=str(folder))

    def changes(self, session: str, **options: Any) -> Page:
        """The page of changes, read once; not beside the terminal, unless the window says so."""
        options = {"viewport": {"width": 1040, "height": 800}, **options}
        page = self.page(f"{self.service.url}/?session={session}&page=git", **options)
        expect(page.get_by_test_id("git-panel")).to_contain_text("updated just now")
        return page

    def file(self, page: Page, group: str, name: str) -> Locator:
        files = page.get_by_test_id(f"git-{group}").get_by_test_id("git-file")
        return files.filter(has_text=name)
