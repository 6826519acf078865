"""No fault that axe finds, on any page and in either theme."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, BrowserCase
from tests.browser.pdf_files import make_pdf
from tests.integration.harness import DaemonHarness
from tests.unit.agents.transcripts.transcript_lines import ID, answer_line, prompt_line, write_lines

PAGES = ("approvals", "cases", "files", "git", "cron", "webtabs", "clis", "models", "mcp",
         "doctor", "rules", "devices", "tokens", "audit", "settings", "help", "fleet",
         "conversations", "shared")  # fmt: skip

NOTES = "[data-path='notes.md']"
EYE, TEXT = "[data-testid=file-preview]", "[data-testid=text] .cm-content"
WITHIN = (
    ("cases", ("[data-testid=case]",), "[data-testid=case-view]"),
    ("cases", ("[data-testid=link-open]",), "[data-testid=browse-folder]"),
    ("models", ("[data-testid=endpoint-edit]",), "[data-testid=endpoint-form]"),
    (
        "hosts",
        ("[data-testid=host-check]", "[data-testid=host-new]", ".host-more summary"),
        "[data-testid=host-found]",
    ),
    (
        "containers",
        ("[data-testid=build-log-open]", "[data-testid=container-host-new]", ".host-more summary"),
        "[data-testid=build-log]",
    ),
    ("clis", ("[data-testid=cli-edit]",), "[data-testid=new-cli-form]"),
    (
        "conversations",
        ("[data-testid=conversation-read]",),
        "[data-testid=conversation-answer] .markdown",
    ),
    ("files", (NOTES,), "[data-testid=markdown] strong"),
    ("files", (NOTES, EYE), TEXT),
    ("files", (NOTES, "[data-testid=file-follow]"), "[data-testid=follow]"),
    ("files", ("[data-path='paper.pdf']",), "[data-testid=pdf-sheet][data-drawn]"),
)
"""What is opened on a page, and what shows that it is there."""


@pytest.mark.long
class AxeTests(BrowserCase):
    expected = (r"the server responded with a status of 40[34]",)

    def check(self, page: Page, where: str, all_: list[str]) -> None:
        all_.extend(f"{where}: {fault}" for fault in faults_in_both(page))

    def scene(self) -> DaemonHarness:
        """A daemon with something on every page."""
        daemon = self.daemon()
        (daemon.home / "w").mkdir()
        (daemon.home / "notes.md").write_text("# One\n\n`two` **three**\n")
        (daemon.home / "paper.pdf").write_bytes(make_pdf(2))
        linked = {"name": "notes", "path": str(daemon.home / "w")}
        daemon.request("POST", "/api/cases/link", linked).data()
        on = {"customModelEndpointsEnabled": True, "cliManagementEnabled": True}
        daemon.request("PUT", "/api/settings", on).data()
        endpoint = {"label": "workshop", "baseUrl": "http://127.0.0.1:1", "apiKey": "s3cr3t"}
        daemon.request("POST", "/api/model-endpoints", endpoint).data()
        far = {"label": "build box", "host": "127.0.0.1", "port": 1, "username": "me"}
        daemon.request("POST", "/api/remote-hosts", far).data()
        engine = {"label": "Engine", "engine": "podman", "image": "service/agent:base"}
        daemon.request("POST", "/api/container-hosts", engine).data()
        entry = {"id": "mine", "label": "Mine", "shortBadge": "MI", "binaries": ["sh"],
                 "argv": ["sh", "-i"]}  # fmt: skip
        daemon.request("POST", "/api/clis", entry).data()
        write_lines(
            daemon.home / ".claude/projects/-w" / f"{ID}.jsonl",
            prompt_line("Paint"),
            answer_line("*Done*"),
        )
        for number in range(2):
            self.session(daemon, f"task {number}")
        return daemon

    def test_every_page_passes_axe_on_a_desktop(self) -> None:
        daemon = self.scene()
        faults: list[str] = []
        page = self.terminal(daemon.url).page
        self.check(page, "terminal", faults)
        for name in PAGES:
            page.goto(f"{daemon.url}/?page={name}")
            page.get_by_test_id(f"page-{name}").wait_for()
            page.locator("dialog :text('Loading…')").wait_for(state="detached")
            self.check(page, name, faults)
        for name, clicks, shown in WITHIN:
            page.goto(f"{daemon.url}/?page={name}")
            for click in clicks:
                page.locator(click).first.click()
            page.locator(shown).first.wait_for()
            self.check(page, f"{name}, {clicks[-1]}", faults)
        self.check_around(page, daemon, faults)
        self.assertEqual([], faults, "\n".join(faults))

    def test_every_page_passes_axe_on_a_phone(self) -> None:
        daemon = self.scene()
        faults: list[str] = []
        page = self.page(daemon.url, **PHONE)
        page.get_by_test_id("current").click()
        page.get_by_test_id("drawer").wait_for()
        self.check(page, "phone drawer", faults)
        page.get_by_test_id("drawer-new").click()
        page.get_by_test_id("mode-mine").locator("label").click()
        page.get_by_test_id("new-prompt").wait_for()
        self.check(page, "phone new session", faults)
        page.goto(f"{daemon.url}/?page=settings")
        page.get_by_test_id("look-settings").wait_for()
        self.check(page, "phone settings", faults)
        self.assertEqual([], faults, "\n".join(faults))

    def check_around(self, page: Page, daemon: DaemonHarness, faults: list[str]) -> None:
        """The dialog of a new session, the palette, the sidebar, and cells, two of them empty."""
        page.goto(daemon.url)
        page.get_by_test_id("new-session-button").click()
        page.get_by_test_id("new-place").click()
        page.get_by_test_id("picker").wait_for()
        for way in ("browse", "make", "clone", "elsewhere", "known"):
            page.get_by_test_id(f"way-{way}").click()
            self.check(page, f"new session, {way}", faults)
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").wait_for()
        self.check(page, "palette", faults)
        page.keyboard.press("Escape")
        page.keyboard.press("Alt+Shift+B")
        page.get_by_test_id("sidebar").wait_for()
        self.check(page, "sidebar", faults)
        page.keyboard.press("Alt+Shift+4")
        page.get_by_test_id("cell-choose").nth(1).wait_for()
        self.check(page, "cells", faults)
