"""The real daemon with played agents, for tests in Chromium."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.harness import BrowserCase
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
THUMB = 44
"""Pixels of height that a thumb hits."""


class LiveCase(BrowserCase):
    """One daemon with played agents for the class, one page for each test."""

    # A request that a test cuts, or that is refused, is logged by the browser itself.
    expected: tuple[str, ...] = (r"net::ERR_FAILED", r"status of 422 .*/input\)")
    running: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.running = played_daemon()
        cls.addClassCleanup(cls.running.close)
        cls.running.start()
        settings = {"primaryMode": "normal", "showPlanUsageLimits": True}
        cls.running.request("PUT", "/api/settings", settings).data()

    def agent(self, scenario: MockScenario | None = None, **fields: Any) -> PlayedSession:
        """A session of a played Claude Code in a folder of its own."""
        chosen = scenario or MockScenario(trust=False)
        found = PlayedSession(self.running, "primary", chosen, **fields)
        self.addCleanup(found.end)
        return found

    def shown(self, agent: PlayedSession, **options: Any) -> Page:
        """A page with that session in front."""
        page = self.page(f"{self.running.url}/?session={agent.id}", **options)
        page.get_by_test_id("terminal").first.wait_for()
        return page

    def card(self, page: Page, agent: PlayedSession) -> Locator:
        """The session's card in the inbox, which is opened."""
        expect(page.get_by_test_id("approvals-count")).to_have_text("1")
        bell = page.get_by_test_id("approvals-bell")
        bell.tap() if page.viewport_size == PHONE["viewport"] else bell.click()
        card = page.get_by_test_id("approval")
        expect(card).to_have_count(1)
        expect(card).to_contain_text(agent.record()["name"])
        return card

    def offers(self, card: Locator, item: dict[str, Any]) -> None:
        """The card's buttons say what the dialog said before the page gave it another width."""
        labels = [option["label"] for option in item["options"]]
        expect(card.locator("[data-testid^=approval-option-] span")).to_have_text(labels)
