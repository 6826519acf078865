"""The conversation beside the terminal, live, in a real Chromium."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, BrowserCase
from tests.browser.picture_files import bring_file, make_picture
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness

PANE = "[data-testid=conversation-pane]"
HOSTILE = (
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>\\n\\n"
    "[run](javascript:window.ran=1) [web](https://example.test/) [file](src/a.py:3)\\n\\n"
    "| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n```python\\nprint(1)\\n```"
)


class ConversationViewTests(BrowserCase):
    service: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = played_daemon()
        cls.addClassCleanup(cls.service.close)
        cls.service.start()
        cls.service.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()

    def begin(self) -> PlayedSession:
        session = PlayedSession(self.service, "primary", MockScenario())
        self.addCleanup(
            lambda: self.service.request("DELETE", f"/api/sessions/{session.id}").data()
        )
        return session

    def open(self, session: PlayedSession, **how: Any) -> Page:
        return self.page(f"{self.service.url}/?session={session.id}", **how)

    def transcript(self, session: PlayedSession) -> Path:
        (path,) = self.service.home.glob(f".claude/projects/*{session.work.name}/*.jsonl")
        return path

    def picture(self, page: Page, name: str) -> None:
        folder = os.environ.get("TSERVICE_TEST_PICTURES")
        if folder:
            page.screenshot(path=f"{folder}/{name}.png")

    @pytest.mark.essential
    def test_conversation_is_live_beside_the_prompt_box(self) -> None:
        session = self.begin()
        page = self.open(session)
        expect(page.get_by_test_id("conversation-pane")).to_have_count(0)
        page.get_by_test_id("view-switch").click()
        page.get_by_test_id("menu").get_by_text("Conversation", exact=True).click()
        expect(page.get_by_test_id("conversation-pane")).to_contain_text("Nothing yet")
        box = page.get_by_test_id("prompt").locator("textarea")
        box.fill(f"SAY: {HOSTILE}")
        box.press("Enter")
        answer = page.get_by_test_id("conversation-answer").last
        expect(answer.locator("table")).to_be_visible()
        self.assertIsNone(page.evaluate("window.ran ?? null"))
        expect(answer.locator("img, script")).to_have_count(0)
        expect(answer.get_by_role("link")).to_have_count(1)
        session.prompt("RUN: touch made.txt", wait="blocked")
        card = page.get_by_test_id("conversation-pane").get_by_test_id("approval")
        expect(card).to_be_visible()
        self.picture(page, "desk-approval")
        card.locator(
            "[data-testid=approval-approve], [data-testid=approval-option-1]"
        ).first.click()
        tool = page.get_by_test_id("conversation-tool").last
        expect(tool).to_be_visible()
        tool.locator("summary").click()
        expect(tool.locator("pre").first).to_contain_text("touch made.txt")
        self.picture(page, "desk-dark")
        self.assertEqual([], faults_in_both(page, PANE))
        page.emulate_media(color_scheme="light")
        self.picture(page, "desk-light")
        page.reload()
        expect(page.get_by_test_id("conversation-pane")).to_be_visible()

    def test_phone_opens_in_the_conversation(self) -> None:
        session = self.begin()
        session.prompt("SAY: hello phone", wait="idle")
        page = self.open(session, **PHONE)
        expect(page.get_by_test_id("conversation-answer")).to_contain_text("hello phone")
        self.picture(page, "phone-dark")
        self.assertEqual([], faults_in_both(page, PANE))
        page.get_by_test_id("view-switch").tap()
        expect(page.get_by_test_id("conversation-pane")).to_have_count(0)
        page.reload()
        expect(page.locator("[data-testid=terminal][data-painted]")).to_be_visible()
        expect(page.get_by_test_id("conversation-pane")).to_have_count(0)

    def test_list_stays_at_its_end_and_loads_what_is_before(self) -> None:
        session = self.begin()
        session.prompt("SAY: begun", wait="idle")
        path = self.transcript(session)
        self.add_turns(path, 0, 700)
        page = self.open(session, viewport={"width": 1440, "height": 900})
        page.evaluate("localStorage.setItem('tservice.view', 'both')")
        page.reload()
        view = page.get_by_test_id("conversation-view")
        expect(view).to_contain_text("answer 699")
        at_end = "box => box.scrollHeight - box.scrollTop - box.clientHeight < 40"
        self.assertTrue(view.evaluate(at_end))
        self.picture(page, "both-dark")
        self.add_turns(path, 700, 703)
        expect(view).to_contain_text("answer 702")
        self.assertTrue(view.evaluate(at_end))
        view.evaluate("box => { box.scrollTop = box.scrollHeight / 2 }")
        self.add_turns(path, 703, 705)
        fresh = page.get_by_test_id("conversation-fresh")
        expect(fresh).to_have_text("4 new items")
        fresh.click()
        expect(view).to_contain_text("answer 704")
        drawn = view.locator("[data-turn][data-drawn=true]")
        self.assertLess(drawn.count(), 120)
        page.get_by_test_id("conversation-find").fill("question 690 ")
        expect(page.get_by_test_id("conversation-found")).to_have_text("1 of 1")
        expect(view.locator("[data-marked=true]")).to_be_visible()
        page.get_by_test_id("conversation-find").fill("")
        page.get_by_test_id("conversation-filter").select_option("errors")
        expect(view.locator("[data-turn]")).to_have_count(0)
        page.get_by_test_id("conversation-filter").select_option("all")
        view.focus()
        page.keyboard.press("k")
        expect(view.locator("[data-turn]:focus")).to_have_count(1)

    def test_moment_is_found_in_the_terminal_and_back(self) -> None:
        session = self.begin()
        session.prompt("SAY: the keeper of the lighthouse waves", wait="idle")
        session.prompt("SAY: the fisher on the pier sings", wait="idle")
        page = self.open(session, viewport={"width": 1440, "height": 900})
        page.evaluate("localStorage.setItem('tservice.view', 'both')")
        page.reload()
        first = page.get_by_test_id("conversation-turn").filter(has_text="lighthouse")
        expect(first).to_have_count(1)
        self.choose(page, first, "Find the answer in the terminal")
        expect(page.get_by_test_id("history-match").first).to_contain_text("lighthouse")
        self.picture(page, "history-match")
        page.get_by_test_id("history-conversation").click()
        expect(page.get_by_test_id("history")).to_have_count(0)
        marked = page.locator("[data-marked=true]")
        expect(marked).to_contain_text("lighthouse")
        page.locator(".terminal-host:not([hidden])").click(button="right", modifiers=["Shift"])
        page.get_by_test_id("menu").get_by_text("Show in the conversation").click()
        expect(marked).to_contain_text("fisher")
        self.picture(page, "marked")
        self.add_turns(self.transcript(session), 0, 1)
        unseen = page.get_by_test_id("conversation-turn").filter(has_text="question 0 ")
        self.choose(page, unseen, "Find in the terminal")
        expect(page.get_by_test_id("toast")).to_contain_text("Not found in the terminal")

    def choose(self, page: Page, turn: Locator, label: str) -> None:
        turn.get_by_test_id("conversation-turn-actions").click()
        page.get_by_test_id("menu").get_by_text(label, exact=True).click()

    def test_attached_picture_has_its_name(self) -> None:
        session = self.begin()
        page = self.open(session)
        page.evaluate("localStorage.setItem('tservice.view', 'conversation')")
        page.reload()
        field = page.get_by_test_id("prompt-field")
        for name in ("harbour.png", "image.png"):
            bring_file(field, "paste", name, make_picture())
        chips = page.get_by_test_id("attached")
        expect(chips.nth(1)).to_have_attribute("data-state", "ready")
        expect(chips).to_contain_text(["harbour.png", "Picture 2"])
        field.fill("what is this")
        field.press("Enter")
        expect(page.get_by_test_id("conversation-upload")).to_have_text(
            ["[harbour.png]", "[Picture 2]"]
        )
        self.picture(page, "uploads")

    def add_turns(self, path: Path, first: int, end: int) -> None:
        with path.open("a", encoding="utf-8") as file:
            for number in range(first, end):
                for role, text in (
                    ("user", f"question {number} "),
                    ("assistant", f"answer {number}"),
                ):
                    message = {"role": role, "content": [{"type": "text", "text": text}]}
                    file.write(json.dumps({"type": role, "message": message}) + "\n")
