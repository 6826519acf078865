"""Past conversations: found, read and gone on with, in a real Chromium."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import DELETED, PHONE, BrowserCase, wait_until_on_page
from tests.integration.harness import DaemonHarness
from tests.unit.agents.transcripts.transcript_lines import ID, answer_line, prompt_line, write_lines
from tests.unit.agents.transcripts.transcript_samples import RECORDED

WIDE = "wide " * 40
ANSWER = (
    "I **painted** it, see `door.py`. <img src=x onerror=alert(1)>\n\n"
    f"```\n{WIDE}\n```\n\n| {WIDE.replace(' ', ' | ')}|\n|{'-|' * 40}|\n\n{'long' * 60}\n"
)


class ConversationsPageTests(BrowserCase):
    expected = (DELETED,)
    service: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = DaemonHarness()
        cls.addClassCleanup(cls.service.close)
        home = cls.service.home
        program = home / ".local" / "bin" / "claude"
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexec sleep 600\n')
        program.chmod(0o755)
        (home / "shop").mkdir()
        asked = {**prompt_line("Paint the front door"), "cwd": str(home / "shop")}
        write_lines(home / ".claude/projects/-shop" / f"{ID}.jsonl", asked, answer_line(ANSWER))
        codex = home / ".codex/sessions/2026/11/20"
        codex.mkdir(parents=True)
        shutil.copy(RECORDED / "codex-0.169.0.jsonl", codex / "rollout-a.jsonl")
        cls.service.start()

    @pytest.mark.essential
    def test_conversation_is_found_read_and_resumed(self) -> None:
        page = self.page(f"{self.service.url}/?page=conversations")
        rows = page.get_by_test_id("conversation")
        expect(page.get_by_test_id("conversations-sum")).to_have_text("2 conversations")
        codex = page.locator("[data-testid=conversation][data-mode=codex]")
        expect(codex.get_by_test_id("conversation-resume")).to_be_disabled()
        page.get_by_test_id("conversations-search").fill("PAINTED")
        expect(page.get_by_test_id("conversations-sum")).to_have_text("Found in 1 conversation")
        expect(rows).to_have_count(1)
        expect(rows.locator("mark")).to_have_text("painted")
        expect(rows).to_contain_text("1 turn")
        rows.get_by_test_id("conversation-read").click()
        expect(page.get_by_test_id("conversation-prompt")).to_contain_text("Paint the front door")
        answer = page.get_by_test_id("conversation-answer")
        expect(answer.locator("strong").last).to_have_text("painted")
        expect(answer.locator("img")).to_have_count(0)
        page.get_by_test_id("transcript-back").click()
        expect(rows).to_have_count(1)
        page.get_by_test_id("conversations-search").fill("")
        # A row that makes room for another one is no target.
        expect(rows).to_have_count(2)
        claude = page.locator("[data-testid=conversation][data-mode=primary]")
        claude.get_by_test_id("conversation-resume").click()
        expect(page.locator("[data-testid=terminal][data-painted]")).to_be_visible()
        expect(page.get_by_test_id("page-conversations")).to_be_visible()
        expect(claude.get_by_test_id("conversation-open")).to_be_visible()
        (made,) = self.service.request("GET", "/api/sessions").data()
        self.assertEqual(str(self.service.home / "shop"), made["workingDir"])
        self.assertIn(ID, made["conversationIds"])
        self.opens_where_it_lives(page, made["id"])

    def opens_where_it_lives(self, page: Page, session: str) -> None:
        """A conversation that is alive is opened; nobody can start a second agent on it."""
        body = {"mode": "primary", "resumeSessionId": ID, "start": True}
        refused = self.service.request("POST", "/api/sessions", body)
        self.assertEqual(409, refused.status)
        self.assertIn(session, str(refused.json()["error"]))
        shell = {"mode": "shell", "start": True, "name": "another"}
        other = self.service.request("POST", "/api/sessions", shell).data()["session"]["id"]
        self.addCleanup(lambda: self.service.request("DELETE", f"/api/sessions/{other}").data())
        front = self.page(f"{self.service.url}/?session={other}&page=conversations")
        claude = front.locator("[data-testid=conversation][data-mode=primary]")
        claude.get_by_test_id("conversation-open").click()
        wait_until_on_page(front, "its session", lambda: f"session={session}" in front.url)
        self.assertEqual(2, len(self.service.request("GET", "/api/sessions").data()))
        # Once it has ended there, it can be gone on with again.
        self.service.request("DELETE", f"/api/sessions/{session}").data()
        rows = page.locator("[data-testid=conversation][data-mode=primary]")
        expect(rows.get_by_test_id("conversation-resume")).to_be_enabled()

    def test_conversations_page_fits_a_phone(self) -> None:
        page = self.page(f"{self.service.url}/?page=conversations", **PHONE)
        page.get_by_test_id("conversations-search").fill("nowhere at all")
        expect(page.get_by_test_id("conversations-sum")).to_have_text("No matches")
        page.get_by_test_id("conversations-search").fill("front door")
        page.get_by_test_id("conversation-read").tap()
        code = page.get_by_test_id("conversation-answer").locator("pre")
        expect(code).to_be_visible()
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 720})
            content = page.locator(".dialog-content")
            self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"), width)
            # It scrolls by itself.
            self.assertTrue(code.evaluate("box => box.scrollWidth > box.clientWidth"), width)
            box = page.get_by_test_id("conversation-resume").bounding_box()
            assert box is not None
            self.assertLessEqual(box["x"] + box["width"], width)
