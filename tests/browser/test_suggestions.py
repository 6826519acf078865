"""Suggestions above the prompt box (protocol-suggestions), in a real Chromium."""

from __future__ import annotations

import json
import os

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import BrowserCase, expect_focus
from tests.non_empty import require_items

AGENT = """#!/bin/sh
case " $* " in
  *" --print "*) cat > "$HOME/asked"; cat "$HOME/answer"; exit 0;;
esac
printf '\\342\\235\\257\\302\\240'
exec cat
"""
FIRST = {
    "suggestions": [
        {"prompt": "Run the tests", "why": "They were not run", "kind": "verify"},
        {"prompt": "Go on with the parser", "why": "It stopped half way", "kind": "continue"},
        {"prompt": "Write it in Rust " + "x" * 200, "why": "Speed", "kind": "redirect"},
    ]
}
SECOND = {"suggestions": [{"prompt": "Ship it", "why": "You said so", "kind": "continue"}]}


class SuggestionsBoxTests(BrowserCase):
    """A played Claude Code: it answers once with what a file holds."""

    expected = (r"responded with a status of 422",)

    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon()
        programs = self.service.home / ".local" / "bin"
        programs.mkdir(parents=True)
        (programs / "claude").write_text(AGENT)
        (programs / "claude").chmod(0o755)
        self.service.request("PUT", "/api/settings", {"readMyMindEnabled": True}).data()
        self.agent = self.session(self.service, "the parser", mode="primary")
        self.says(FIRST)

    def says(self, found: object) -> None:
        (self.service.home / "answer").write_text(json.dumps(found))

    def shot(self, page: Page, name: str) -> None:
        """For eyes, where a folder for it is named."""
        folder = os.environ.get("SCREENSHOTS")
        if folder is not None:
            page.screenshot(path=f"{folder}/mind-{name}.png")

    @pytest.mark.essential
    def test_tapped_suggestion_fills_the_field_and_sends_nothing(self) -> None:
        page = self.page(f"{self.service.url}/?session={self.agent}")
        page.get_by_test_id("suggest").click()
        chips = page.get_by_test_id("suggestion")
        expect(chips).to_have_count(3)
        expect(chips.nth(0)).to_contain_text("They were not run")
        self.shot(page, "desk")
        chips.nth(0).click()
        field = page.get_by_test_id("prompt-field")
        expect(field).to_have_value("Run the tests")
        expect_focus(field)
        screen = self.service.request("GET", f"/api/sessions/{self.agent}/terminal").data()
        self.assertNotIn("Run the tests", screen["terminalBuffer"])

        self.says(SECOND)
        page.get_by_test_id("rethink-steer").fill("it is finished")
        page.get_by_test_id("rethink-steer").press("Enter")
        expect(chips).to_have_count(1)
        asked = (self.service.home / "asked").read_text()
        for words in ("it is finished", "- Run the tests\n- Go on with the parser"):
            self.assertIn(words, asked)
        self.says("no")
        page.get_by_test_id("rethink").click()
        expect(page.get_by_test_id("suggestions-problem")).to_contain_text("no suggestions")
        expect(chips).to_have_count(1)
        page.get_by_test_id("suggestions-close").click()
        expect(page.get_by_test_id("suggestions")).to_have_count(0)
        expect(field).to_have_value("Run the tests")

    def test_suggestions_fit_a_phone(self) -> None:
        size = {"width": 390, "height": 844}
        url = f"{self.service.url}/?session={self.agent}"
        page = self.page(url, viewport=size, has_touch=True)
        page.get_by_test_id("suggest").tap()
        chips = page.get_by_test_id("suggestion")
        expect(chips).to_have_count(3)
        self.shot(page, "phone")
        for chip in require_items(chips.all()):
            box = chip.bounding_box()
            assert box is not None
            self.assertLessEqual(box["x"] + box["width"], 390)
            self.assertGreaterEqual(box["height"], 32)
        chips.nth(1).tap()
        expect(page.get_by_test_id("prompt-field")).to_have_value("Go on with the parser")
