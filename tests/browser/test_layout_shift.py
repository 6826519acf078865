"""Nothing moves under the pointer while a page loads."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Route

from tests.browser.harness import PHONE, BrowserCase, wait_until_on_page
from tests.run_figures import report_figure

PAGES = ("", "fleet", "approvals", "cases", "files", "git", "cron", "webtabs", "clis",
         "models", "mcp", "doctor", "rules", "devices", "tokens", "audit", "settings", "help",
         "conversations")  # fmt: skip
MOST = 0.1
"""Share of the window that may move, times how far: above it people notice (web.dev/cls)."""
SESSIONS = 9

WATCH = """(() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join();
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        `${node?.className || node?.nodeName} ${place(previousRect)} to ${place(currentRect)}`);
      shifts.push({ value, moved });
    }
  }).observe({ type: "layout-shift", buffered: true });
})()"""
QUIET = """async () => {
  const idle = (time) => new Promise((done) => setTimeout(done, time));
  for (let count = -1; count !== performance.getEntriesByType("resource").length; await idle(600))
    count = performance.getEntriesByType("resource").length;
}"""


@pytest.mark.long
class LayoutShiftTests(BrowserCase):
    expected = (r"the server responded with a status of 40[34]",)

    def test_pages_do_not_move_while_they_load(self) -> None:
        daemon = self.daemon()
        ids = [self.session(daemon, f"task {number}") for number in range(SESSIONS)]
        faults, most = [], 0.0
        looks: tuple[dict[str, Any], ...] = ({"viewport": {"width": 1440, "height": 900}}, PHONE)
        for look in looks:
            context = self.context(**look)
            context.add_init_script(WATCH)
            for name in PAGES:
                # The first one as a browser that was never here before.
                page = self.page(f"{daemon.url}/?session={ids[0]}&page={name}", context)
                page.locator("[data-painted], .page").first.wait_for()
                page.evaluate(QUIET)
                shifts = page.evaluate("shifts")
                total = sum(each["value"] for each in shifts)
                width = look["viewport"]["width"]
                if total >= MOST:
                    faults.append(f"{width} {name or 'session'}: {total:.3f} {shifts}")
                most = max(most, total)
                page.close()
        report_figure(f"layout shift: {most:.3f} at most, of {2 * len(PAGES)} pages")
        self.assertEqual([], faults)

    def test_fleet_does_not_move_when_news_arrive_late(self) -> None:
        """On a first visit, at which the browser knows no sidebar either."""
        daemon = self.daemon()
        ids = [self.session(daemon, f"task {number}") for number in range(SESSIONS)]
        counts = {"turns": 1, "files": 2, "commits": 0, "answered": 0, "cost": 0.1}
        news = [
            {"id": each, "name": each, "since": 1, "isBusy": False, **counts} for each in ids[:3]
        ]
        payload = {"success": True, "data": {"sessions": news, "total": len(news)}}
        context = self.context(viewport={"width": 1440, "height": 900})
        context.add_init_script(WATCH)
        page = context.new_page()
        held: list[Route] = []
        page.route("**/api/away", lambda route: held.append(route))
        page.goto(f"{daemon.url}/?page=fleet")
        page.get_by_test_id("fleet-row").nth(SESSIONS - 1).wait_for(state="attached")
        wait_until_on_page(page, "a question for the news", lambda: held)
        page.evaluate(QUIET)
        held[0].fulfill(json=payload)
        page.get_by_test_id("away-session").nth(2).wait_for()
        page.get_by_test_id("fleet-row").first.wait_for()
        page.evaluate(QUIET)
        shifts = page.evaluate("shifts")
        self.assertLess(sum(each["value"] for each in shifts), MOST, shifts)
