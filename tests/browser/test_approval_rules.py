"""Approval rules on the real daemon, with a played agent, in Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import find_faults
from tests.browser.live_agents import PHONE, THUMB, LiveCase


class ApprovalRuleTests(LiveCase):
    # A rule that the service refuses.
    expected = (*LiveCase.expected, r"status of 400 .*/approval-rules\)")

    def open_rules(self, page: Page) -> None:
        page.goto(f"{self.running.url}/?page=rules")
        page.get_by_test_id("rules").wait_for()

    @pytest.mark.essential
    def test_a_rule_is_made_from_a_card_and_answers_from_then_on(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        agent.item()
        page = self.shown(agent)
        card = self.card(page, agent)
        card.get_by_test_id("rule-session").click()
        agent.until("the file", agent.made("made").exists)
        expect(card).to_have_count(0)
        agent.made("made").unlink()
        agent.prompt("RUN: touch made")
        agent.until("the file again", agent.made("made").exists)
        page.keyboard.press("Escape")
        page.get_by_test_id("view-switch").click()
        page.get_by_test_id("menu").get_by_text("Conversation", exact=True).click()
        told = page.get_by_test_id("conversation-rule")
        expect(told.last).to_contain_text("allowed by rule")
        agent.prompt("RUN: touch made other", wait="blocked")
        agent.item()
        self.open_rules(page)
        row = page.get_by_test_id("rule")
        expect(row).to_have_count(1)
        # Another word is another command.
        self.assertFalse(agent.made("other").exists())
        self.assertEqual(1, len(agent.items()))
        expect(row).to_contain_text("touch made")
        row.get_by_test_id("rule-delete").click()
        expect(row).to_have_count(0)

    def test_a_phone_offers_rules_in_reach_of_a_thumb(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        agent.item()
        page = self.shown(agent, **PHONE)
        card = self.card(page, agent)
        for button in card.get_by_test_id("rule-buttons").locator("button").all():
            box = button.bounding_box()
            assert box is not None
            self.assertGreaterEqual(box["height"], THUMB)
            self.assertLessEqual(box["x"] + box["width"], 390)
        self.assertEqual([], find_faults(page))
        card.get_by_test_id("rule-hour").tap()
        agent.until("the file", agent.made("made").exists)
        self.open_rules(page)
        row = page.get_by_test_id("rule")
        expect(row).to_contain_text("ends in")
        row.get_by_text("Last answers").tap()
        expect(row.get_by_test_id("rule-answers")).to_contain_text("allowed: touch made")
        self.assertEqual([], find_faults(page))
        row.get_by_test_id("rule-delete").tap()
        expect(row).to_have_count(0)

    def test_a_risky_command_offers_no_rule(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: rm -rf build", wait="blocked")
        agent.item()
        card = self.card(self.shown(agent), agent)
        expect(card.get_by_test_id("approval-option-1")).to_be_visible()
        expect(card.get_by_test_id("rule-buttons")).to_have_count(0)

    def test_a_rule_is_previewed_and_made_on_its_page(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        item = agent.item()
        agent.call("POST", f"/api/approvals/{item['id']}/answer", action="approve")
        page = self.shown(agent)
        self.open_rules(page)
        page.get_by_test_id("new-rule").click()
        page.get_by_test_id("rule-text").fill("touch")
        page.get_by_test_id("rule-preview").click()
        expect(page.get_by_test_id("rule-preview-found")).to_contain_text("Allow: touch made")
        page.get_by_test_id("rule-note").fill("new files")
        self.assertEqual([], find_faults(page))
        page.get_by_test_id("rule-text").fill("sudo")
        page.get_by_test_id("rule-add").click()
        expect(page.get_by_test_id("rule-problem")).to_contain_text("can run any program")
        page.get_by_test_id("rule-text").fill("touch")
        page.get_by_test_id("rule-add").click()
        row = page.get_by_test_id("rule")
        expect(row).to_contain_text("new files")
        row.get_by_test_id("rule-delete").click()
        expect(row).to_have_count(0)
