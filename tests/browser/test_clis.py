"""The page of CLIs, in a real Chromium."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.harness import BrowserCase

NPM = """#!/bin/sh
echo "prefix $NPM_CONFIG_PREFIX"
[ "$3" = opencode-ai ] && exec sleep 600
mkdir -p "$NPM_CONFIG_PREFIX/bin"
printf '#!/bin/sh\\necho codex-cli 9.8.7\\n' > "$NPM_CONFIG_PREFIX/bin/codex"
chmod +x "$NPM_CONFIG_PREFIX/bin/codex"
"""


class ClisTests(BrowserCase):
    expected = (r"responded with a status of (409|422)",)

    def setUp(self) -> None:
        super().setUp()
        folder = Path(self.mktemp()).absolute()
        folder.mkdir(parents=True)
        program(folder / "npm", NPM)
        self.service = self.daemon(PATH=f"{folder}:{os.environ['PATH']}")
        folder = self.service.home / ".local" / "bin"
        folder.mkdir(parents=True)
        program(folder / "gemini", "#!/bin/sh\necho 1.2.3\n")

    @pytest.mark.essential
    def test_detected_clis_are_listed_switched_and_added(self) -> None:
        page = self.page(f"{self.service.url}/?page=clis")
        expect(page.locator("[data-cli=gemini]")).to_contain_text("1.2.3")
        expect(page.locator("[data-cli=gemini]")).to_contain_text(".local/bin/gemini")
        expect(page.get_by_test_id("cli-install")).to_have_count(0)
        page.get_by_test_id("clis-manage").click()

        codex = page.locator("[data-cli=codex]")
        codex.get_by_test_id("cli-looked").click()
        expect(codex).to_contain_text(f"{self.service.home}/.nvm/versions/node/*/bin")
        codex.get_by_test_id("cli-install").click()
        expect(page.get_by_text("npm install -g @openai/codex").last).to_be_visible()
        page.get_by_role("button", name="Install", exact=True).click()
        expect(codex).to_contain_text("9.8.7")
        expect(codex).to_contain_text(".local/bin/codex")
        codex.get_by_test_id("cli-switch").click()
        expect(codex).to_contain_text("turned off")

        page.get_by_test_id("new-cli").click()
        for name, text in [
            ("label", "Mine"),
            ("id", "mine"),
            ("badge", "MI"),
            ("program", "gemini"),
        ]:
            page.get_by_test_id(f"new-cli-{name}").fill(text)
        page.get_by_test_id("new-cli-words").fill("--fast  now")
        expect(page.get_by_test_id("new-cli-command")).to_have_text("gemini --fast now")
        page.get_by_test_id("new-cli-create").click()
        mine = page.locator("[data-cli=mine]")
        expect(mine).to_contain_text("custom")
        expect(mine.get_by_test_id("cli-command")).to_have_text("runs gemini --fast now")
        mine.get_by_test_id("cli-edit").click()
        expect(page.get_by_test_id("new-cli-id")).to_have_attribute("readonly", "")
        page.get_by_test_id("new-cli-words").fill("--slow")
        expect(page.get_by_test_id("new-cli-command")).to_have_text("gemini --slow")
        page.get_by_test_id("new-cli-create").click()
        expect(mine.get_by_test_id("cli-command")).to_have_text("runs gemini --slow")
        mine.get_by_test_id("cli-remove").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(mine).to_have_count(0)

    def test_cli_installation_is_watched_and_cancelled(self) -> None:
        self.service.request("PUT", "/api/settings", {"cliManagementEnabled": True}).data()
        page = self.page(f"{self.service.url}/?page=clis")
        row = page.locator("[data-cli=opencode]")
        row.get_by_test_id("cli-install").click()
        page.get_by_role("button", name="Install", exact=True).click()
        expect(row.get_by_test_id("cli-installing")).to_contain_text("prefix ")
        row.get_by_test_id("cli-cancel").click()
        expect(row.get_by_test_id("cli-installing")).to_have_count(0)
        expect(page.get_by_test_id("clis-problem")).to_contain_text("was cancelled")

    def test_broken_clis_file_is_shown(self) -> None:
        self.service.request("PUT", "/api/settings", {"cliManagementEnabled": True}).data()
        (self.service.data / "clis.json").write_text("{")
        page = self.page(f"{self.service.url}/?page=clis")
        expect(page.get_by_test_id("clis-file")).to_contain_text("Fix")
        page.locator("[data-cli=gemini]").get_by_test_id("cli-switch").click()
        expect(page.get_by_test_id("clis-problem")).to_contain_text("Nothing was changed")
        expect(page.locator("[data-cli=gemini]").get_by_test_id("cli-switch")).to_be_checked()
        (self.service.data / "clis.json").write_text('{"clis": {"mine": {"label": 1}}}')
        (self.service.data / "clis.json").chmod(0o600)
        page.reload()
        expect(page.get_by_test_id("clis-file")).to_contain_text("mine (label:")
        page.get_by_test_id("clis-file-remove").click()
        expect(page.get_by_test_id("clis-file")).to_have_count(0)

    def test_clis_page_fits_a_phone(self) -> None:
        self.service.request("PUT", "/api/settings", {"cliManagementEnabled": True}).data()
        page = self.page(f"{self.service.url}/?page=clis", viewport={"width": 390, "height": 844})
        page.get_by_test_id("new-cli").click()
        expect(page.get_by_test_id("new-cli-form")).to_be_visible()
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))


def program(path: Path, text: str) -> None:
    """An executable."""
    path.write_text(text)
    path.chmod(0o755)
