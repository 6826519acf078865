"""The page of MCP servers, in a real Chromium."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.harness import BrowserCase

SERVERS = {"mcpServers": {"files": {"command": "run", "env": {"KEY": "s3cr3t"}}, "old": None}}
OFF = {"mcpServers": {"docs": {"serverUrl": "http://127.0.0.1:9/", "disabled": True}}}


class McpPageTests(BrowserCase):
    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon()
        home = self.service.home
        (home / ".claude.json").write_text(json.dumps(SERVERS))
        self.gemini = home / ".gemini" / "settings.json"
        (home / ".gemini" / "config").mkdir(parents=True)
        self.gemini.write_text('{\n  "theme": "x" // mine\n}\n')
        (home / ".gemini" / "config" / "mcp_config.json").write_text(json.dumps(OFF))
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text('model = "s3cr3t')

    @pytest.mark.essential
    def test_mcp_page_enables_shows_and_applies_a_configuration(self) -> None:
        page = self.page(f"{self.service.url}/?page=mcp")
        expect(page.get_by_test_id("mcp-off")).to_be_visible()
        page.get_by_test_id("mcp-enable").click()
        gemini = page.locator("[data-target=gemini]")
        expect(gemini).to_contain_text("Will be added")
        expect(gemini.locator("[data-kind=added]")).to_contain_text("files")
        expect(page.get_by_test_id("mcp-verdict")).to_contain_text("Sync will add")
        codex = page.locator("[data-target=codex]")
        expect(codex).to_contain_text("not valid TOML (line 1, column 16)")
        expect(page.get_by_test_id("mcp-target").first).to_have_attribute("data-target", "codex")
        expect(page.get_by_test_id("mcp-note")).to_contain_text("docs")
        self.assertNotIn("files", self.gemini.read_text())

        page.get_by_test_id("mcp-apply").click()
        expect(page.get_by_test_id("mcp-verdict")).to_contain_text("Added ")
        expect(page.get_by_test_id("mcp-apply")).to_be_disabled()
        self.assertIn("// mine", self.gemini.read_text())
        self.assertIn("files", self.gemini.read_text())
        self.assertNotIn("s3cr3t", page.content())

        page.get_by_test_id("mcp-look").click()
        expect(gemini).to_contain_text("complete")

    def test_mcp_page_fits_a_phone(self) -> None:
        self.service.request("PUT", "/api/settings", {"mcpSyncEnabled": True}).data()
        page = self.page(f"{self.service.url}/?page=mcp", viewport={"width": 390, "height": 844})
        expect(page.locator("[data-target=gemini]")).to_contain_text("Will be added")
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))
