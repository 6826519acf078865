"""The machine restarts under a page that is open (protocol-restore), in a real Chromium."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import (
    LOST,
    BrowserCase,
    PageTerminal,
    is_uncovered,
    listen_for_words,
    wait_for_words,
    wait_until_on_page,
)
from tests.integration.rebooting import RebootDaemon

AGENT = """#!/bin/sh
[ -e "$HOME/broken" ] && exit 1
printf 'agent of %s\\n> ' "$*"
exec cat
"""


class RestoreBannerTests(BrowserCase):
    """One shell and one agent, of a CLI whose conversations are taken at their word."""

    expected = LOST

    def setUp(self) -> None:
        super().setUp()
        self.service = RebootDaemon()
        self.addCleanup(self.service.close)
        programs = self.service.home / ".local" / "bin"
        programs.mkdir(parents=True)
        (programs / "agy").write_text(AGENT)
        (programs / "agy").chmod(0o755)
        (self.service.home / ".bash_profile").write_text("PS1='$ '\n")
        self.place = self.held()
        self.service.start(listen=(self.place,))
        self.shell = self.session(self.service, "builds")
        self.agent = self.session(
            self.service, "the fix", mode="antigravity", resumeSessionId="c0ffee-1"
        )

    def pid(self, session: str) -> Any:
        return self.service.request("GET", f"/api/sessions/{session}").data()["pid"]

    def reboot(self) -> None:
        """On the same address, so that an open page finds it again."""
        self.service.go_down(signal.SIGTERM)
        self.service.name_boot()
        self.service.start(listen=(self.place,))

    def shot(self, page: Page, name: str) -> None:
        """For eyes, where a folder for it is named."""
        folder = os.environ.get("SCREENSHOTS")
        if folder is not None:
            page.screenshot(path=f"{folder}/restore-{name}.png")

    def test_restore_banner_lists_sessions_and_brings_them_back(self) -> None:
        page = self.page(f"{self.service.url}/?session={self.shell}")
        terminal = (
            PageTerminal(page).ready().focus().run("echo before-$((40 + 2))").wait("before-42")
        )
        self.reboot()
        banner = page.get_by_test_id("restore-banner")
        expect(banner).to_contain_text("You can restore 2 sessions")
        wait_until_on_page(page, "nothing over it", lambda: is_uncovered(banner))
        self.shot(page, "banner")
        page.get_by_test_id("restore-look").click()
        rows = page.get_by_test_id("restore-row")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text("a new shell in its folder, below its earlier output")
        expect(rows.nth(1)).to_contain_text("continues its conversation")
        self.shot(page, "page")
        (self.service.home / "broken").touch()
        rows.nth(1).get_by_test_id("restore-one").click()
        expect(rows.nth(1)).to_contain_text("did not start or exited at once")
        self.shot(page, "failed")
        (self.service.home / "broken").unlink()
        page.get_by_test_id("restore-page-all").click()
        expect(page.get_by_test_id("restore-none")).to_be_visible()
        expect(banner).to_have_count(0)
        self.assertNotIn(None, [self.pid(self.shell), self.pid(self.agent)])
        page.keyboard.press("Escape")
        terminal.ready().wait("before-42")
        terminal.wait("── the machine restarted; above is what was here until .*")
        self.shot(page, "terminal")
        terminal.focus().run("echo after-$((40 + 2))").wait("after-42")

    def test_dismissed_restore_offer_disappears_from_every_page(self) -> None:
        """Dismissed, it is gone from every page, and the sessions are there."""
        self.reboot()
        size = {"width": 390, "height": 844}
        url = f"{self.service.url}/?session={self.shell}"
        page, other = (
            self.page(url, viewport=size, has_touch=True),
            self.page(url, viewport=size, has_touch=True),
        )
        banner = page.get_by_test_id("restore-banner")
        expect(banner).to_be_visible()
        box = banner.bounding_box()
        assert box is not None
        self.assertTrue(box["x"] >= 0 and box["x"] + box["width"] <= 390, box)
        self.shot(page, "phone-banner")
        page.get_by_test_id("restore-look").tap()
        content = page.locator(".dialog-content")
        expect(page.get_by_test_id("restore-row")).to_have_count(2)
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))
        self.shot(page, "phone-page")
        page.get_by_test_id("restore-page-dismiss").tap()
        expect(page.get_by_test_id("restore")).to_have_count(0)
        expect(other.get_by_test_id("restore-banner")).to_have_count(0)
        self.assertEqual([None, None], [self.pid(self.shell), self.pid(self.agent)])

    @pytest.mark.essential
    def test_one_tap_restores_everything_and_shows_progress(self) -> None:
        """Everything, and how far it is."""
        self.reboot()
        page = self.page(f"{self.service.url}/?session={self.agent}")
        listen_for_words(page, "[data-testid=restore-banner], .toast")
        page.get_by_test_id("restore-all").click()
        wait_for_words(page, "2 of 2")
        self.shot(page, "progress")
        wait_for_words(page, "2 sessions restored")
        expect(page.get_by_test_id("restore-banner")).to_have_count(0)
        PageTerminal(page).ready().wait("agent of --conversation c0ffee-1")
