"""The doctor's page, in a real Chromium."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import BrowserCase, read_clipboard, wait_until_on_page

OLD = "#!/bin/sh\necho git version 2.30.9\n"
NEW = "#!/bin/sh\necho git version 2.51.0\n"


class DoctorTests(BrowserCase):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.git = Path(folder.name) / "git"
        self.git.write_text(OLD)
        self.git.chmod(0o755)
        self.service = self.daemon(PATH=f"{folder.name}:{os.environ['PATH']}")

    def looked(self, page: Page, look: Callable[[], bool]) -> None:
        """Wait until a look finds it so.

        Of each program it waits five seconds for a word, which a busy machine may not keep.
        """
        again = page.get_by_test_id("doctor-again")

        def found() -> bool:
            expect(again).to_be_enabled()
            if look():
                return True
            again.click()
            return False

        wait_until_on_page(page, "a look", found)

    @pytest.mark.essential
    def test_doctor_page_shows_found_and_needed_tools_and_checks_again(self) -> None:
        page = self.page(
            f"{self.service.url}/?page=doctor", permissions=["clipboard-read", "clipboard-write"]
        )
        verdict = page.get_by_test_id("doctor-verdict")
        self.looked(page, lambda: verdict.get_attribute("data-good") == "true")
        tool = page.locator("[data-tool=git]")
        expect(tool).to_contain_text("outdated")
        expect(tool).to_contain_text("2.30.9")
        expect(tool).to_contain_text("needs 2.31 or newer")
        tool.get_by_test_id("doctor-copy").click()
        hint = tool.locator("code").inner_text()
        self.assertIn("git", hint)
        wait_until_on_page(page, "a copy", lambda: read_clipboard(page) == hint)

        for group in ("core", "office", "other"):
            expect(page.get_by_test_id(f"doctor-{group}")).to_be_visible()
        python = page.locator("[data-tool=python]")
        expect(python).to_contain_text("ready")
        expect(python).to_contain_text("3.11 or newer")
        expect(verdict).to_have_attribute("data-good", "true")
        expect(page.get_by_test_id("doctor-duration")).to_contain_text("Checked in")

        self.git.write_text(NEW)
        page.get_by_test_id("doctor-again").focus()
        page.keyboard.press("Enter")
        expect(tool).to_have_attribute("data-status", "ok")
        expect(tool).to_contain_text("2.51.0")

    def test_failed_required_tool_is_listed_first_on_a_phone(self) -> None:
        curl = self.git.with_name("curl")
        curl.write_text("#!/bin/sh\nexit 3\n")
        curl.chmod(0o755)
        page = self.page(f"{self.service.url}/?page=doctor", viewport={"width": 390, "height": 844})
        verdict = page.get_by_test_id("doctor-verdict")
        words = "Install or fix curl: it is required."
        self.looked(page, lambda: words in verdict.inner_text())
        expect(verdict).to_have_attribute("data-good", "false")
        first = page.get_by_test_id("doctor-tool").first
        expect(first).to_have_attribute("data-tool", "curl")
        expect(first).to_contain_text("it ended with status 3")
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))
