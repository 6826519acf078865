"""No fault that axe finds, on any page and in either theme."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.harness import PHONE, BrowserCase
from tests.unit.agents.transcripts.written import ID, prompt, said, write

PAGES = ("approvals", "cases", "files", "git", "cron", "clis", "models", "mcp", "doctor",
         "devices", "tokens", "audit", "settings", "help", "fleet", "conversations")  # fmt: skip


class AxeTests(BrowserCase):
    expected = (r"the server responded with a status of 40[34]",)

    def faults(self, page: Page) -> list[str]:
        """Each violation with where it is."""
        found: Any = Axe().run(page).response["violations"]
        return [
            f"{each['impact']} {each['id']}: {node['target'][0]} {node['failureSummary']}"
            for each in found
            for node in each["nodes"]
        ]

    def check(self, page: Page, where: str, all_: list[str]) -> None:
        all_.extend(f"{where}: {fault}" for fault in self.faults(page))

    def test_every_page(self) -> None:
        daemon = self.daemon()
        (daemon.home / "w").mkdir()
        (daemon.home / "notes.md").write_text("# One\n\n`two` **three**\n")
        linked = {"name": "notes", "path": str(daemon.home / "w")}
        daemon.request("POST", "/api/cases/link", linked).data()
        on = {"customModelEndpointsEnabled": True, "cliManagementEnabled": True}
        daemon.request("PUT", "/api/settings", on).data()
        endpoint = {"label": "workshop", "baseUrl": "http://127.0.0.1:1", "apiKey": "s3cr3t"}
        daemon.request("POST", "/api/model-endpoints", endpoint).data()
        entry = {"id": "mine", "label": "Mine", "shortBadge": "MI", "binaries": ["sh"],
                 "argv": ["sh", "-i"]}  # fmt: skip
        daemon.request("POST", "/api/clis", entry).data()
        write(daemon.home / ".claude/projects/-w" / f"{ID}.jsonl", prompt("Paint"), said("*Done*"))
        for number in range(2):
            self.session(daemon, f"task {number}")
        faults: list[str] = []
        for look in ("dark", "light"):
            page = self.terminal(daemon.url, color_scheme=look).page
            self.check(page, f"{look} terminal", faults)
            for name in PAGES:
                page.goto(f"{daemon.url}/?page={name}")
                page.get_by_test_id(f"page-{name}").wait_for()
                page.locator("dialog :text('Loading…')").wait_for(state="detached")
                self.check(page, f"{look} {name}", faults)
            page.goto(f"{daemon.url}/?page=cases")
            page.get_by_test_id("case").click()
            page.get_by_test_id("case-view").wait_for()
            self.check(page, f"{look} case", faults)
            page.get_by_test_id("link-open").click()
            page.get_by_test_id("browse-folder").first.wait_for()
            self.check(page, f"{look} link a folder", faults)
            page.goto(f"{daemon.url}/?page=models")
            page.get_by_test_id("endpoint").get_by_test_id("endpoint-edit").click()
            page.get_by_test_id("endpoint-form").wait_for()
            self.check(page, f"{look} endpoint", faults)
            page.goto(f"{daemon.url}/?page=clis")
            page.get_by_test_id("cli-edit").click()
            page.get_by_test_id("new-cli-form").wait_for()
            self.check(page, f"{look} custom CLI", faults)
            page.goto(f"{daemon.url}/?page=conversations")
            page.get_by_test_id("conversation-read").click()
            page.get_by_test_id("said").get_by_test_id("markdown").wait_for()
            self.check(page, f"{look} transcript", faults)
            page.goto(f"{daemon.url}/?page=files")
            page.locator("[data-path='notes.md']").click()
            page.get_by_test_id("markdown").locator("strong").wait_for()
            self.check(page, f"{look} document", faults)
            page.get_by_test_id("file-preview").click()
            page.get_by_test_id("text").locator(".cm-content").wait_for()
            self.check(page, f"{look} file", faults)
            page.get_by_test_id("file-follow").click()
            page.get_by_test_id("follow").wait_for()
            self.check(page, f"{look} followed file", faults)
            page.goto(daemon.url)
            page.get_by_test_id("new-session-button").click()
            page.get_by_test_id("picker").wait_for()
            for way in ("browse", "make", "clone", "known"):
                page.get_by_test_id(f"way-{way}").click()
                self.check(page, f"{look} new session, {way}", faults)
            page.keyboard.press("Escape")
            page.keyboard.press("Control+Shift+K")
            page.get_by_test_id("palette-field").wait_for()
            self.check(page, f"{look} palette", faults)
            page.keyboard.press("Escape")
            page.keyboard.press("Alt+Shift+B")
            page.get_by_test_id("sidebar").wait_for()
            self.check(page, f"{look} sidebar", faults)
        page = self.page(daemon.url, **PHONE)
        page.get_by_test_id("open-drawer").click()
        page.get_by_test_id("drawer").wait_for()
        self.check(page, "phone drawer", faults)
        self.assertEqual([], faults, "\n".join(faults))
